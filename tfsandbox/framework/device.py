"""Device names: parsed, merged and made canonical. The sandbox computes on the CPU; names are kept as given."""

from __future__ import annotations

from typing import Any


class DeviceSpec:
    """A (possibly partial) device name: job, replica, task, device type and index."""

    def __init__(self, job: str | None = None, replica: int | None = None, task: int | None = None,
                 device_type: str | None = None, device_index: int | None = None) -> None:
        self.job, self.replica, self.task = job, replica, task
        self.device_type = device_type.upper() if device_type else device_type
        self.device_index = device_index

    @classmethod
    def from_string(cls, name: str) -> DeviceSpec:
        """Parse `/job:worker/task:0/device:CPU:0` and short forms such as `/cpu:0`; `ValueError` otherwise."""
        spec = cls()
        for part in name.split("/"):
            pieces = part.split(":")
            key = pieces[0].lower()
            if not part:
                continue
            if key == "job" and len(pieces) == 2:
                spec.job = pieces[1]
            elif key == "replica" and len(pieces) == 2:
                spec.replica = int(pieces[1])
            elif key == "task" and len(pieces) == 2:
                spec.task = int(pieces[1])
            elif key in ("cpu", "gpu") and len(pieces) <= 2:
                spec.device_type = key.upper()
                spec.device_index = None if len(pieces) == 1 or pieces[1] == "*" else int(pieces[1])
            elif key == "device" and len(pieces) in (2, 3):
                spec.device_type = pieces[1].upper()
                spec.device_index = None if len(pieces) == 2 or pieces[2] == "*" else int(pieces[2])
            else:
                raise ValueError(f"Unknown attribute: '{pieces[0]}' in '{name}'")
        return spec

    def to_string(self) -> str:
        """The canonical name, such as `/job:worker/device:CPU:0`."""
        name = ""
        if self.job is not None:
            name += "/job:" + self.job
        if self.replica is not None:
            name += f"/replica:{self.replica}"
        if self.task is not None:
            name += f"/task:{self.task}"
        if self.device_type is not None:
            name += f"/device:{self.device_type}:" + ("*" if self.device_index is None else str(self.device_index))
        return name

    def merge_from(self, other: DeviceSpec) -> None:
        """Take what `other` says."""
        for field in ("job", "replica", "task", "device_type", "device_index"):
            if getattr(other, field) is not None:
                setattr(self, field, getattr(other, field))


def canonical_name(device: Any) -> str:
    """The canonical text of a device given as text, DeviceSpec or None."""
    if device is None:
        return ""
    return device.to_string() if isinstance(device, DeviceSpec) else DeviceSpec.from_string(str(device)).to_string()


def merge(outer: str, inner: str) -> str:
    """`inner`'s parts over `outer`'s."""
    spec = DeviceSpec.from_string(outer)
    spec.merge_from(DeviceSpec.from_string(inner))
    return spec.to_string()
