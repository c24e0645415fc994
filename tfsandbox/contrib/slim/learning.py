"""Train ops and the training loop of slim."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfsandbox.contrib.training import training
from tfsandbox.framework import errors, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.graph import Graph, get_default_graph
from tfsandbox.framework.operation import Tensor
from tfsandbox.ops import control_flow_ops, lookup_ops, math_ops, summary_ops, variables
from tfsandbox.platform import tf_logging
from tfsandbox.training import optimizer as optimizer_lib
from tfsandbox.training import training_util
from tfsandbox.training.saver import Saver
from tfsandbox.training.train_op import GradsAndVars, clip_gradient_norms, gradient_summaries

__all__ = ["add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train",
           "train_step"]

multiply_gradients = training.multiply_gradients

USE_DEFAULT = 0
"""Stands for what `train` finds in the graph, or makes."""


def create_train_op(total_loss: Tensor, optimizer: Any, global_step: Any = training.USE_GLOBAL_STEP,
                    update_ops: Iterable[Any] | None = None, variables_to_train: list[Any] | None = None,
                    clip_gradient_norm: float = 0, summarize_gradients: bool = False,
                    gate_gradients: int = optimizer_lib.Optimizer.GATE_OP, aggregation_method: int | None = None,
                    colocate_gradients_with_ops: bool = False, gradient_multipliers: Mapping[Any, Any] | None = None,
                    check_numerics: bool = True) -> Tensor:
    """`tf.contrib.training.create_train_op`; the gradients are multiplied, then clipped, by these arguments."""
    def transform(pairs: GradsAndVars) -> GradsAndVars:
        if gradient_multipliers:
            with ops.name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with ops.name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return training.create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transform_grads_fn=transform,
        summarize_gradients=summarize_gradients, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops, check_numerics=check_numerics)


def add_gradients_summaries(grads_and_vars: GradsAndVars) -> list[Tensor]:
    """A histogram and the norm of each gradient, as summaries `variable/gradient` and `variable/gradient_norm`."""
    return gradient_summaries(grads_and_vars, "/")


# ------------------------------------------------------------ the loop


def train_step(sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]) -> tuple[Any, bool]:
    """(loss, whether to stop) of one step; logs it where `should_log` of `train_step_kwargs` is true."""
    start = time.time()
    loss, step = sess.run([train_op, global_step])
    elapsed = time.time() - start
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        tf_logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, elapsed)
    return loss, bool("should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"]))


def train(train_op: Any, logdir: str | None, train_step_fn: Callable[..., Any] = train_step,
          train_step_kwargs: Any = USE_DEFAULT, log_every_n_steps: int = 1, graph: Graph | None = None,
          master: str = "", is_chief: bool = True, global_step: Any = None, number_of_steps: int | None = None,
          init_op: Any = USE_DEFAULT, init_feed_dict: dict[Any, Any] | None = None, local_init_op: Any = USE_DEFAULT,
          init_fn: Callable[[Any], None] | None = None, ready_op: Any = USE_DEFAULT, summary_op: Any = USE_DEFAULT,
          save_summaries_secs: float | None = 600, summary_writer: Any = USE_DEFAULT, startup_delay_steps: int = 0,
          saver: Any = None, save_interval_secs: float = 600, sync_optimizer: Any = None, session_config: Any = None,
          session_wrapper: Callable[[Any], Any] | None = None, trace_every_n_steps: int | None = None,
          ignore_live_threads: bool = False) -> Any:
    """Run the train op until `number_of_steps` (or an end of the input); gives the last loss.

    The variables are initialised, or restored from the latest checkpoint in `logdir`; checkpoints and summaries are
    written there every so many seconds, and a checkpoint at the end. With `logdir` None nothing is written.

    Args:
      train_op: what a step runs, giving the loss.
      train_step_fn: function (session, train op, global step, `train_step_kwargs`) -> (loss, whether to stop).
      train_step_kwargs: by default when to stop and to log, as tensors.
      log_every_n_steps: how often the loss is logged; 0: never.
      init_op, local_init_op, ready_op, summary_op, summary_writer: what stands in for the usual ones.
      init_fn: a function of the session, called after `init_op`.
      startup_delay_steps: the global step that a worker waits for.
      session_wrapper: a function from the session to the one that is used.
      trace_every_n_steps: accepted, with a warning: there are no traces here.

    Raises `ValueError` for arguments that do not go together, `NotImplementedError` for a `sync_optimizer`.
    """
    from tfsandbox.training.supervisor import Supervisor

    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if summary_op is not USE_DEFAULT and summary_op is not None:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
        if trace_every_n_steps is not None:
            raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    if sync_optimizer is not None:
        raise NotImplementedError("sync_optimizer brings several workers together, and here is one process")
    if global_step is None and number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    if trace_every_n_steps is not None:
        tf_logging.warning("trace_every_n_steps: there are no traces here")
    graph = graph or get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = training_util.get_or_create_global_step()
        saver = saver or Saver()
        with ops.name_scope("init_ops"):
            if init_op is USE_DEFAULT:
                init_op = variables.global_variables_initializer()
            if ready_op is USE_DEFAULT:
                ready_op = variables.report_uninitialized_variables()
            if local_init_op is USE_DEFAULT:
                local_init_op = control_flow_ops.group(variables.local_variables_initializer(),
                                                       lookup_ops.tables_initializer())
        if summary_op is USE_DEFAULT:
            summary_op = summary_ops.merge_all()
        if train_step_kwargs is USE_DEFAULT:
            train_step_kwargs = _step_tensors(global_step, number_of_steps, log_every_n_steps)
            train_step_kwargs["logdir"] = logdir
        supervisor = Supervisor(
            graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op, init_feed_dict=init_feed_dict,
            local_init_op=local_init_op, ready_op=ready_op, summary_op=summary_op,
            summary_writer=summary_writer if logdir else None, global_step=global_step, saver=saver,
            save_summaries_secs=save_summaries_secs or 0, save_model_secs=save_interval_secs, init_fn=init_fn)
    train_step_kwargs["summary_writer"] = supervisor.summary_writer
    loss = None
    with supervisor.managed_session(master, start_standard_services=False, config=session_config) as sess:
        tf_logging.info("Starting Session.")
        if session_wrapper is not None:
            sess = session_wrapper(sess)
        if is_chief:
            if logdir:
                supervisor.start_standard_services(sess)
        elif startup_delay_steps > 0:
            _wait_for_step(sess, global_step, min(startup_delay_steps, number_of_steps or startup_delay_steps))
        threads = supervisor.start_queue_runners(sess)
        tf_logging.info("Starting Queues.")
        try:
            while not supervisor.should_stop():
                loss, should_stop = train_step_fn(sess, train_op, global_step, train_step_kwargs)
                if should_stop:
                    tf_logging.info("Stopping Training.")
                    supervisor.request_stop()
        except errors.OutOfRangeError as error:
            tf_logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
        if logdir and supervisor.is_chief:
            tf_logging.info("Finished training! Saving model to disk.")
            try:
                # The thread that saves must be done first: else its earlier step may end up as the latest checkpoint.
                supervisor.stop(threads, close_summary_writer=False, ignore_live_threads=ignore_live_threads)
            finally:
                supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
    return loss


def _step_tensors(global_step: Any, number_of_steps: int | None, log_every_n_steps: int) -> dict[str, Any]:
    """When a step should stop and be logged."""
    tensors: dict[str, Any] = {}
    with ops.name_scope("train_step"):
        if number_of_steps:
            tensors["should_stop"] = math_ops.greater_equal(global_step, number_of_steps)
        else:
            tensors["should_stop"] = constant(False)
        if log_every_n_steps > 0:
            tensors["should_log"] = math_ops.equal(math_ops.mod(global_step, log_every_n_steps), 0)
    return tensors


def _wait_for_step(sess: Any, global_step: Any, step: int) -> None:
    while training_util.global_step(sess, global_step) < step:
        time.sleep(1)
