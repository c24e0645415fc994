"""tf.logging: messages through Python's logger "tensorflow", to stderr as `INFO:tensorflow:...`."""

from __future__ import annotations

import logging as _logging
import sys as _sys
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

__all__ = [
    "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "TaskLevelStatusMessage", "debug", "error", "fatal", "flush",
    "get_logger", "get_verbosity", "info", "log", "log_every_n", "log_first_n", "log_if", "set_verbosity", "vlog",
    "warn", "warning",
]

_counts: dict[Any, int] = {}


def get_logger() -> _logging.Logger:
    """The logger, with a handler of its own unless the program has set up logging."""
    logger = _logging.getLogger("tensorflow")
    if not logger.handlers and not _logging.getLogger().handlers:
        handler = _logging.StreamHandler(_sys.stderr)
        handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT))
        logger.addHandler(handler)
    return logger


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of that level, with `%` arguments."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of level DEBUG."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of level INFO."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of level WARN."""
    get_logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of level ERROR."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of level FATAL."""
    get_logger().fatal(msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message of that level."""
    get_logger().log(level, msg, *args, **kwargs)


def TaskLevelStatusMessage(msg: Any) -> None:
    """Log a message of level ERROR."""
    error(msg)


def flush() -> None:
    """Write out what handlers hold back."""
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """The level below which messages are dropped."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Drop messages below this level, such as `tf.logging.ERROR`."""
    get_logger().setLevel(v)


def _seen(msg: Any) -> int:
    frame = _sys._getframe(2)
    key = (frame.f_code.co_filename, frame.f_lineno, msg)
    _counts[key] = _counts.get(key, -1) + 1
    return _counts[key]


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log every n-th time this line is reached, beginning with the first."""
    log_if(level, msg, not _seen(msg) % n, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log the first n times this line is reached."""
    log_if(level, msg, _seen(msg) < n, *args)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Log a message if the condition is true."""
    if condition:
        log(level, msg, *args)
