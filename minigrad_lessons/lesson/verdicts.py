"""What the checks of this kernel have judged, and with what result."""

from __future__ import annotations

_last: dict[str, bool] = {}  # whether the last answer to a check was right, by its id


def record_verdict(id: str, right: bool) -> None:
    """Record a verdict, replacing the one before."""
    _last[id] = right


def was_checked(id: str) -> bool:
    """Return whether a check has judged an answer since the kernel started."""
    return id in _last


def was_wrong(id: str) -> bool:
    """Return whether the last answer to a check was wrong."""
    return not _last.get(id, True)
