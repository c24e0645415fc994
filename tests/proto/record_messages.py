"""Record TensorFlow 1.15's message descriptors and some messages of its own making: run this with its Python.

    python tests/proto/record_messages.py
"""

import importlib
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))

MODULES = """
tensorflow.core.example.example_pb2 tensorflow.core.example.feature_pb2
tensorflow.core.framework.allocation_description_pb2 tensorflow.core.framework.attr_value_pb2
tensorflow.core.framework.cost_graph_pb2 tensorflow.core.framework.device_attributes_pb2
tensorflow.core.framework.function_pb2 tensorflow.core.framework.graph_pb2 tensorflow.core.framework.node_def_pb2
tensorflow.core.framework.op_def_pb2 tensorflow.core.framework.resource_handle_pb2
tensorflow.core.framework.step_stats_pb2 tensorflow.core.framework.summary_pb2 tensorflow.core.framework.tensor_pb2
tensorflow.core.framework.tensor_description_pb2 tensorflow.core.framework.tensor_shape_pb2
tensorflow.core.framework.tensor_slice_pb2 tensorflow.core.framework.types_pb2 tensorflow.core.framework.variable_pb2
tensorflow.core.framework.versions_pb2 tensorflow.core.lib.core.error_codes_pb2 tensorflow.core.protobuf.cluster_pb2
tensorflow.core.protobuf.config_pb2 tensorflow.core.protobuf.control_flow_pb2 tensorflow.core.protobuf.debug_pb2
tensorflow.core.protobuf.meta_graph_pb2 tensorflow.core.protobuf.queue_runner_pb2
tensorflow.core.protobuf.rewriter_config_pb2 tensorflow.core.protobuf.saved_model_pb2
tensorflow.core.protobuf.saved_object_graph_pb2 tensorflow.core.protobuf.saver_pb2 tensorflow.core.protobuf.struct_pb2
tensorflow.core.protobuf.tensor_bundle_pb2 tensorflow.core.protobuf.tensorflow_server_pb2
tensorflow.core.protobuf.trackable_object_graph_pb2 tensorflow.core.protobuf.verifier_config_pb2
tensorflow.core.util.event_pb2 tensorflow.python.training.checkpoint_state_pb2
""".split()


def record_descriptors():
    from descriptor_lines import lines_of

    lines = {}
    for name in MODULES:
        lines.update(lines_of(importlib.import_module(name).DESCRIPTOR))
    with open(os.path.join(HERE, "recorded", "descriptors.json"), "w") as file:
        json.dump(lines, file, indent=0, sort_keys=True)
        file.write("\n")


def write(name, message):
    from google.protobuf import text_format

    base = os.path.join(HERE, "recorded", name + "." + type(message).__name__)
    with open(base + ".pb", "wb") as file:
        file.write(message.SerializeToString(deterministic=True))
    with open(base + ".pbtxt", "w") as file:
        file.write(text_format.MessageToString(message))


def record_messages():
    import numpy as np
    import tensorflow as tf
    from tensorflow.core.protobuf import tensor_bundle_pb2

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [2, 1], initializer=tf.random_normal_initializer(seed=3))
        r = tf.get_variable("r", [1], use_resource=True, initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + r), name="loss")
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        tf.cond(loss > 0.5, lambda: loop + 1, lambda: loop)
        tf.constant([[b"a", b"\xff\x00"]], name="strings")
        tf.constant(np.array([1, 2.5], np.float16), name="halves")
        queue = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], [2]])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue([1, ["a", "b"]])]))
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=step)
        saver = tf.train.Saver()
        write("graph", graph.as_graph_def(add_shapes=True))
        meta = tf.train.export_meta_graph(saver_def=saver.saver_def, strip_default_attrs=True)
        del meta.meta_info_def.stripped_op_list.op[3:]
        tensors = {"x": tf.saved_model.utils.build_tensor_info(x)}
        signature = tf.saved_model.signature_def_utils.build_signature_def(tensors, tensors, "predict")
        meta.signature_def["serving_default"].CopyFrom(signature)
        write("meta_graph", meta)
        summary = tf.Summary()
        summary.value.add(tag="loss", simple_value=0.25)
        summary.value.add(tag="histogram").histo.CopyFrom(
            tf.HistogramProto(min=0, max=1, num=2, sum=1, sum_squares=1, bucket_limit=[0.5, 1], bucket=[1, 1])
        )
        summary.value.add(tag="text", tensor=tf.make_tensor_proto(["a"]))
        write("event", tf.Event(wall_time=1234.5, step=7, summary=summary))
        write("session_log", tf.Event(session_log=tf.SessionLog(status=tf.SessionLog.START)))
    feature = {
        "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"\xff"])),
        "f": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, -2])),
        "i": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, -1])),
    }
    features = tf.train.Features(feature=feature)
    write("example", tf.train.Example(features=features))
    lists = tf.train.FeatureLists(feature_list={"s": tf.train.FeatureList(feature=[feature["i"], feature["f"]])})
    write("sequence", tf.train.SequenceExample(context=features, feature_lists=lists))
    config = tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0}, intra_op_parallelism_threads=2)
    config.gpu_options.per_process_gpu_memory_fraction = 0.25
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.constant_folding = 2
    config.cluster_def.job.add(name="worker").tasks[0] = "localhost:2222"
    write("config", config)
    state = tf.train.generate_checkpoint_state_proto("/m", "/m/a-2", ["/m/a-1", "/m/a-2"], [1.5, 2.5], 2.5)
    write("checkpoint", state)
    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=1)
    header.version.producer = 1
    write("header", header)
    shape = tf.TensorShape([2, 3]).as_proto()
    write("entry", tensor_bundle_pb2.BundleEntryProto(dtype=1, shape=shape, offset=5, size=24, crc32c=0xDEADBEEF))


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.makedirs(os.path.join(HERE, "recorded"), exist_ok=True)
    record_descriptors()
    record_messages()
