"""tf.logging, tf.sysconfig, tf.resource_loader, tf.dtypes, and the switches between modes."""

import logging
from pathlib import Path

import pytest

import tfsandbox as tf


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.get_logger().propagate = True
        tf.logging.debug("hidden")
        tf.logging.info("a %d", 1)
        tf.logging.warn("b")
        for i in range(5):
            tf.logging.log_every_n(tf.logging.ERROR, "c %d", 2, i)
            tf.logging.log_first_n(tf.logging.ERROR, "d %d", 1, i)
        tf.logging.log_if(tf.logging.FATAL, "e", False)
        assert [r.getMessage() for r in caplog.records] == ["a 1", "b", "c 0", "d 0", "c 2", "c 4"]
        assert tf.logging.get_verbosity() == tf.logging.INFO == 20
        assert tf.get_logger() is logging.getLogger("tensorflow")
    finally:
        tf.logging.set_verbosity(before)


def test_sysconfig_and_resource_loader() -> None:
    assert (Path(tf.sysconfig.get_lib()) / "sysconfig.py").exists()
    assert tf.sysconfig.get_compile_flags() == [] and tf.sysconfig.get_link_flags() == []
    here = Path(__file__)
    assert tf.resource_loader.get_path_to_datafile(here.name) == str(here)
    assert tf.resource_loader.get_data_files_path() == str(here.parent)
    assert b"tf.sysconfig" in tf.resource_loader.load_resource("sysconfig.py")
    assert tf.resource_loader.readahead_file_path("x") == "x"


def test_dtypes() -> None:
    assert tf.dtypes.float32 is tf.float32 and tf.dtypes.cast is tf.cast and tf.dtypes.as_dtype("int32") is tf.int32
    assert tf.dtypes.as_string is tf.as_string


def test_modes() -> None:
    assert not tf.executing_eagerly() and not tf.resource_variables_enabled() and not tf.control_flow_v2_enabled()
    for switch in (tf.disable_eager_execution, tf.disable_v2_behavior, tf.enable_resource_variables,
                   tf.disable_resource_variables, tf.compat.v1.disable_eager_execution, tf.disable_tensor_equality):
        assert switch() is None
    for switch in (tf.enable_eager_execution, tf.enable_v2_behavior):
        with pytest.raises(NotImplementedError, match="not in the sandbox"):
            switch()
