"""Record graphs of `models.py` with TensorFlow 1.15: `python record_graphs.py FOLDER [MODEL...]`.

Writes a GraphDef a model, compressed, and in `cases.json` what its author says of the nodes.
"""

import gzip
import io
import json
import pathlib
import sys

import models
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def record(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    cases = {}
    for name in names:
        models.RECORD.clear()
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            models.MODELS[name]()
        with open(str(folder / (name + ".pb.gz")), "wb") as file:
            file.write(compressed(graph.as_graph_def().SerializeToString(deterministic=True)))
        cases[name] = dict(models.RECORD, training=ranges(graph, models.RECORD.get("training", ())))
    text = json.dumps(cases, indent=1, sort_keys=True)
    (folder / "cases.json").write_text(text + "\n")


def ranges(graph, names):
    """The numbers of nodes as text: `3-8 12-12`."""
    numbers = [number for number, op in enumerate(graph.get_operations()) if op.name in set(names)]
    starts = [number for number in numbers if number - 1 not in numbers]
    ends = [number for number in numbers if number + 1 not in numbers]
    return " ".join("%d-%d" % pair for pair in zip(starts, ends))


def compressed(content):
    """gzip without the time of day, so that recording twice gives the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", filename="", mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


if __name__ == "__main__":
    assert tf.__version__.startswith("1.15"), tf.__version__
    record(pathlib.Path(sys.argv[1]), sys.argv[2:] or sorted(models.MODELS))
