"""tf.sysconfig: how to compile against TensorFlow, which the sandbox does not need."""

from __future__ import annotations

import os

__all__ = ["CXX11_ABI_FLAG", "MONOLITHIC_BUILD", "get_compile_flags", "get_include", "get_lib", "get_link_flags"]

CXX11_ABI_FLAG = 0
MONOLITHIC_BUILD = 0


def get_lib() -> str:
    """The folder of the package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def get_include() -> str:
    """A folder that is not there: the package has no C++ headers."""
    return os.path.join(get_lib(), "include")


def get_compile_flags() -> list[str]:
    """No flags: there is nothing to compile against."""
    return []


def get_link_flags() -> list[str]:
    """No flags: there is no library to link."""
    return []
