"""A real kernel is interrupted in the middle of runs: the session goes on."""

from __future__ import annotations

import time

import pytest

jupyter_client = pytest.importorskip("jupyter_client")

SETUP = """
%load_ext tfsandbox
%tensorflow_version 1.x
import numpy as np
import tensorflow as tf
w = tf.Variable(np.zeros(100000, np.float32))
n = tf.Variable(0)
with tf.control_dependencies([tf.assign_add(w, tf.ones([100000]))]):
    step = tf.assign_add(n, 1)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
print("ready")
"""
CHECK = """
before = sess.run([w, n])
sess.run(step)
after = sess.run([w, n])
# Each variable is whole: all of w took the same number of updates, and n at most one fewer.
print("whole", len(set(before[0].tolist())) == 1, int(before[0][0]) - int(before[1]) in (0, 1),
      int(after[1] - before[1]), float(after[0][0] - before[0][0]))
"""


def run(client, code: str, timeout: float = 60) -> str:
    """What a cell prints; an exception's name where it raises."""
    found: list[str] = []

    def note(message) -> None:
        if message["msg_type"] == "stream":
            found.append(message["content"]["text"])
        elif message["msg_type"] == "error":
            found.append(message["content"]["ename"])
    client.execute_interactive(code, timeout=timeout, output_hook=note)
    return "".join(found)


def test_an_interrupted_run_leaves_the_session_usable() -> None:
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
    try:
        assert run(client, SETUP).endswith("ready\n")
        for pause in (0.3, 0.45):
            message = client.execute("while True: sess.run(step)")
            time.sleep(pause)
            manager.interrupt_kernel()
            reply = client.get_shell_msg(timeout=30)
            assert reply["parent_header"]["msg_id"] == message
            assert reply["content"]["ename"] == "KeyboardInterrupt"
            assert run(client, CHECK) == "whole True True 1 1.0\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
