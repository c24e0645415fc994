"""Summaries are the messages that TensorFlow 1.15.5 writes; literals are its output."""

import zlib

import numpy as np
import pytest

import tfsandbox as tf
from tfsandbox.lib import png, wav
from tfsandbox.lib.histogram import histogram


@pytest.fixture(autouse=True)
def new_graph() -> None:
    tf.reset_default_graph()


def run(tensor, feed=None) -> "tf.Summary":
    with tf.Session() as session:
        return tf.Summary.FromString(session.run(tensor, feed))


def test_histogram_buckets() -> None:
    found = histogram(np.array([1.0, 2.0, 1e-13, -5.0, 1e25, -1e30]))
    assert found.num == 6 and found.min == -1e30 and found.max == 1e25
    assert found.bucket_limit == [
        -1.7976931348623157e+308, -9.920775621859783e+19, -5.099814079160488, -4.636194617418625, 0.0, 1e-12,
        0.917246389039776, 1.0089710279437536, 1.9661990955585713, 2.1628190051144287, 9.920775621859783e+19,
        1.7976931348623157e+308]
    assert found.bucket == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("values, limits, counts", [
    ([], [1.7976931348623157e+308], [0]),
    ([0.0], [0.0, 1e-12, 1.7976931348623157e+308], [0, 1, 0]),
    ([3, 4, 5], [2.8787120958073054, 3.1665833053880363, 3.8315657995195243, 4.214722379471477, 4.636194617418625,
                 5.099814079160488, 1.7976931348623157e+308], [0, 1, 0, 1, 0, 1, 0]),
    ([1.7976931348623157e+308], [9.920775621859783e+19, 1.7976931348623157e+308], [0, 1]),
])
def test_histogram_runs(values: list[float], limits: list[float], counts: list[float]) -> None:
    with np.errstate(over="ignore"):
        found = histogram(np.array(values, np.float64))
    assert (found.bucket_limit, found.bucket) == (limits, counts)


def test_histogram_summary_is_byte_for_byte() -> None:
    summary = tf.summary.merge([tf.summary.scalar("q", 1.0), tf.summary.histogram("r", [1.0])])
    with tf.Session() as session:
        assert session.run(summary).hex() == (
            "0a080a0171150000803f0a660a01722a6109000000000000f03f11000000000000f03f19000000000000f03f21000000000000f03f"
            "29000000000000f03f321808996919155aed3f2b14facdbe24f03fffffffffffffef7f3a180000000000000000000000000000f03f"
            "0000000000000000")


@pytest.mark.parametrize("value, text", [
    ([np.nan], "Nan in summary histogram for: h"), ([1.0, -np.inf, np.nan], "Infinity in summary histogram for: h")])
def test_histogram_refuses(value: list[float], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(tf.summary.histogram("h", value))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint16", "uint64"])
def test_number_types(dtype: str) -> None:
    value = tf.constant([1, 2, 2], dtype)
    assert run(tf.summary.histogram("h", value)).value[0].histo.sum == 5
    assert run(tf.summary.scalar("s", tf.constant(3, dtype))).value[0].simple_value == 3


def test_scalar_shapes_must_agree() -> None:
    x = tf.placeholder(tf.float32)
    summary = tf.summary.scalar("a", x)
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match=r"tags and values not the same shape: \[\] != \[1\] \(tag 'a'\)"):
        run(summary, {x: [1.0]})
    with pytest.raises(TypeError, match="DataType string not in list of allowed values"):
        tf.summary.scalar("b", tf.constant("text"))


@pytest.mark.parametrize("name, family, node, tag", [
    ("loss", None, "scope/loss", "scope/loss"),
    ("a b:c", None, "scope/a_b_c", "scope/a_b_c"),
    ("z", "fam", "scope/fam/z", "fam/scope/fam/z"),
    ("/x:y/", "f a/b", "scope/f_a/b/x_y", "f_a/b/scope/f_a/b/x_y"),
])
def test_names_and_tags(name: str, family: str | None, node: str, tag: str) -> None:
    with tf.name_scope("scope"):
        summary = tf.summary.scalar(name, 1.0, family=family)
    if name.endswith("/"):
        assert summary.op.type == "ScalarSummary"  # a slash at the end enters the name as it stands
    else:
        assert summary.op.name == node
        assert run(summary).value[0].tag == tag


def test_names_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="'' is not a valid node name"):
        tf.summary.scalar("", 1.0)
    with pytest.raises(ValueError, match="At least one of name"):
        tf.summary.scalar(None, 1.0)
    assert tf.summary.histogram(None, 1.0).op.name == "HistogramSummary"


def test_collections() -> None:
    first = tf.summary.scalar("a", 1.0)
    other = tf.summary.scalar("b", 1.0, collections=["others"])
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [first]
    assert tf.get_collection("others") == [other]
    assert tf.summary.merge_all("none") is None
    merged = tf.summary.merge_all("others", name="named")
    assert merged.op.name == "named/named" and list(merged.op.inputs) == [other]


def test_merge_refuses() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag q found in summary inputs"):
        run(tf.summary.merge([tf.summary.scalar("q", 1.0)] * 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse one of the summary inputs"):
        run(tf.summary.merge([tf.constant("abc")]))
    with pytest.raises(ValueError, match="shorter than minimum length 1"):
        tf.summary.merge([])


def pixels(data: bytes) -> list[int]:
    """The samples of a PNG written without filters."""
    width = int.from_bytes(data[16:20], "big") * {0: 1, 4: 2, 2: 3, 6: 4}[data[25]]
    start = data.index(b"IDAT")
    length = int.from_bytes(data[start - 4:start], "big")
    raw = np.frombuffer(zlib.decompress(data[start + 4:start + 4 + length]), np.uint8).reshape(-1, width + 1)
    assert not raw[:, 0].any()
    return raw[:, 1:].ravel().tolist()


@pytest.mark.parametrize("image, expected", [
    (np.arange(12.0).reshape(1, 2, 2, 3), [0, 23, 46, 69, 92, 115, 139, 162, 185, 208, 231, 255]),
    (np.arange(12.0).reshape(1, 2, 2, 3) - 5, [22, 43, 64, 85, 106, 128, 149, 170, 191, 212, 233, 255]),
    (np.array([[[[0.0], [np.nan]], [[1.0], [-1.0]]]]), [128, 255, 255, 1]),
    (np.array([[[[0.0, np.inf, 1.0], [1.0, -1.0, 2.0]]]]), [255, 0, 0, 191, 64, 255]),
    (np.array([[[[-3.0, -2.0, -1.0], [-1.0, -1.0, -2.0]]]]), [1, 43, 85, 85, 85, 43]),
    (np.full((1, 1, 2, 1), np.nan), [255, 255]),
    (np.zeros((1, 1, 1, 4)), [0, 0, 0, 0]),
])
def test_images_are_scaled(image: np.ndarray, expected: list[int]) -> None:
    value = run(tf.summary.image("i", image.astype(np.float32), max_outputs=1)).value[0]
    assert value.tag == "i/image"
    assert (value.image.height, value.image.width, value.image.colorspace) == image.shape[1:]
    assert pixels(value.image.encoded_image_string) == expected


def test_image_types_and_tags() -> None:
    summary = run(tf.summary.image("i", tf.constant(np.full((4, 1, 1, 3), 7, np.uint8)), max_outputs=2))
    assert [v.tag for v in summary.value] == ["i/image/0", "i/image/1"]
    assert pixels(summary.value[1].image.encoded_image_string) == [7, 7, 7]
    half = np.array([0.1, 0.2, 0.3], np.float16).reshape(1, 1, 1, 3)
    assert pixels(run(tf.summary.image("i", tf.constant(half))).value[0].image.encoded_image_string) == [85, 170, 255]
    double = np.array([0.1, 0.2, 0.3]).reshape(1, 1, 1, 3)
    assert pixels(run(tf.summary.image("i", tf.constant(double))).value[0].image.encoded_image_string) == [84, 169, 254]


def test_images_refused() -> None:
    x = tf.placeholder(tf.float32)
    summary = tf.summary.image("i", x)
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match=r"Tensor must be 4-D with last dim 1, 3, or 4, not \[2,2,5\]"):
        run(summary, {x: np.zeros((2, 2, 5))})
    with pytest.raises(tf.errors.InvalidArgumentError, match="input tensor must have non-zero dims"):
        run(summary, {x: np.zeros((1, 0, 2, 3))})
    with pytest.raises(ValueError, match="passed 0 less than minimum 1"):
        tf.summary.image("j", x, max_outputs=0)


def test_png_is_readable() -> None:
    image = pytest.importorskip("matplotlib.image")
    import io
    values = np.random.RandomState(0).randint(0, 256, (3, 5, 4), np.uint8)
    read = image.imread(io.BytesIO(png.encode_png(values)))
    np.testing.assert_array_equal(np.round(read * 255).astype(np.uint8), values)
    with pytest.raises(ValueError, match="1, 2, 3 or 4 channels"):
        png.encode_png(np.zeros((2, 2), np.uint8))


def test_audio() -> None:
    value = run(tf.summary.audio("a", np.array([[[0.5, -0.3], [1.5, -2.0], [0.25, 0.1]]], np.float32), 44100.0,
                                 max_outputs=1)).value[0]
    assert value.tag == "a/audio" and value.audio.content_type == "audio/wav"
    assert (value.audio.sample_rate, value.audio.num_channels, value.audio.length_frames) == (44100, 2, 3)
    assert value.audio.encoded_audio_string == (
        b"RIFF0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0D\xac\0\0\x10\xb1\x02\0\x04\0\x10\0data\x0c\0\0\0"
        b"\x00\x40\x9a\xd9\xff\x7f\x00\x80\x00\x20\xcd\x0c")
    x = tf.placeholder(tf.float32)
    for shape, rate, text in [((3,), 1, "Tensor must be 3-D or 2-D"), ((1, 2), -1, "sample_rate must be > 0"),
                              ((1, 0), 1, "num_frames must be positive")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            run(tf.summary.audio("b", x, rate), {x: np.zeros(shape)})
    assert len(wav.encode_wav(np.zeros((2, 1), np.float32), 8000)) == 48


def test_tensors_and_text() -> None:
    with tf.Session() as session:
        assert session.run(tf.summary.tensor_summary("ts", [[1.0, 2.0]], display_name="dn")).hex() == (
            "0a220a027473421608011208120208011202080222080000803f000000404a041202646e")
        assert session.run(tf.summary.text("te", tf.constant([["a"], ["b"]]))).hex() == (
            "0a220a02746542120807120812020802120208014201614201624a080a060a0474657874")
    with pytest.raises(ValueError, match="to have dtype string, got <dtype: 'float32'>"):
        tf.summary.text("t", tf.constant(1.0))


def test_descriptions() -> None:
    from tfsandbox.framework.op_def_library import apply_op
    node = apply_op("TensorSummary", tensor=1.0, description='{"type_hint": "x"}', name="named")
    assert tf.summary.get_summary_description(node.op.node_def).type_hint == "x"
    assert run(node).value[0].node_name == "named"
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.constant(1).op.node_def)
