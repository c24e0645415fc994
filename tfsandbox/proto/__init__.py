"""Protocol buffer messages with TensorFlow 1.15's names, fields and numbers: bytes and text are interchangeable.

There is one .proto file for each of TensorFlow's, under the same name, so that `tensorflow.core.framework.graph_pb2`
is `tfsandbox.proto.graph_pb2`. The messages are of package `tfsandbox`: a real TensorFlow can live in the same
process. Compare a message of ours with one of TensorFlow's by their bytes, not with `==`.

The `_pb2` files are generated, by a protoc of the 25 series so that they load under every protobuf from 4.25 on.
After a change of a .proto file, from the top of the source tree:

    python3 -m venv /tmp/protoc && /tmp/protoc/bin/pip install grpcio-tools==1.62.3
    /tmp/protoc/bin/python -m grpc_tools.protoc -I . --python_out=. --pyi_out=. tfsandbox/proto/*.proto
"""
