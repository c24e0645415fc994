"""(Taken: the contrib colleague writes contrib/layers, framework, slim, training and arg_scope since 21:44. The nn/layers colleague goes on with tfsandbox/layers and then reports.)"""
