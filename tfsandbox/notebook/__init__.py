"""The Jupyter side: plain-data models of what a graph is, their drawings, and the magics that show them."""
