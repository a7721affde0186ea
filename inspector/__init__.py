"""Tell the truth about a model checkpoint before anyone downloads it.

>>> from inspector import inspect
>>> report = inspect("org/name")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector.errors import InspectorError, MalformedFile, SourceError, UnsupportedFile, UsageError
    from inspector.inspection import inspect
    from inspector.model import Report

__version__ = "0.1.0"
__all__ = [
    "InspectorError",
    "MalformedFile",
    "Report",
    "SourceError",
    "UnsupportedFile",
    "UsageError",
    "__version__",
    "inspect",
]


def __getattr__(name: str) -> Any:
    """Import the public names when they are first asked for: `inspect --help` needs none of them."""
    if name == "inspect":
        from inspector.inspection import inspect

        return inspect
    if name == "Report":
        from inspector.model import Report

        return Report
    if name in __all__:
        from inspector import errors

        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What is here, imported or not yet: completion in a shell reads it."""
    return sorted({*globals(), *__all__})
