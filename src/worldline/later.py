"""Modules that are named at the top of a file and loaded when something of them is first asked for.

A shell command or a hook should not wait for the parts of a program that it does not use. A type checker
reads the plain import instead:

    if TYPE_CHECKING:
        from worldline.read import asking
    else:
        asking = Later("worldline.read.asking")
"""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """A module, not loaded yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Something of the module; loads it, and keeps what was asked for."""
        found = self.__dict__[name] = getattr(importlib.import_module(self._name), name)
        return found
