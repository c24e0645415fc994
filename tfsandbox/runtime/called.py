"""What the emitted source calls beside numpy and the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsandbox.framework import errors


def own(result: Any) -> Any:
    """A copy of what a kernel gave, whose memory may be a variable's."""
    if isinstance(result, (tuple, list)):
        return type(result)([own(part) for part in result])
    return result.copy("K") if isinstance(result, np.ndarray) else result


def dead(name: str) -> Any:
    """Stands for a fetched value that this run did not compute: raises the error that says so."""
    raise errors.InvalidArgumentError(None, None, f"Retval[0] does not have value: {name} lies in a branch that was "
                                                  "not taken in this run")


def unfit(reason: str, kernel: Any, *inputs: Any, **attrs: Any) -> Any:
    """Stands for a kernel whose inputs have shapes that do not fit: raises its error, or else `reason`."""
    if isinstance(kernel, np.ufunc) and len(inputs) == 2:
        left, right = (f"[{','.join(map(str, np.shape(value)))}]" for value in inputs)
        raise errors.InvalidArgumentError(None, None, f"Incompatible shapes: {left} vs. {right}")
    try:
        kernel(*inputs, **attrs)
    except (ValueError, TypeError, IndexError):  # numpy's own words would explain less
        pass
    raise errors.InvalidArgumentError(None, None, reason)
