"""The part of Memory that takes other memories in and writes itself out.

It binds the parts together and decides nothing itself: what is read and written is in `exchange/`,
which is loaded when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldline.errors import InvalidInput
from worldline.handle import Handle

if TYPE_CHECKING:
    from worldline.exchange.absorb import Absorbed
    from worldline.exchange.records import Report


class Exchanging:
    """What a handle can take over from others, and give them."""

    _h: Handle

    def export(self, path: str | Path, format: str = "jsonl") -> int:
        """Writes jsonl (everything, exactly), markdown or graphml; how many lines or memories."""
        from worldline.exchange import exporters

        return exporters.export(self._h, path, format)

    def import_(
        self,
        path: str | Path,
        format: str = "auto",
        *,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> Report:
        """Reads another memory's file, folder or archive; what it could not read is in the report."""
        from worldline.exchange import importers

        return importers.import_(self._h, path, format, dry_run=dry_run, progress=progress)

    def absorb(
        self,
        other: Any,
        *,
        tenant: str | None = None,
        dry_run: bool = False,
        progress: Callable[[str, int], None] | None = None,
    ) -> Absorbed:
        """Unions another memory (a Memory, or the path of a store) into this one.

        What both hold is one. Nothing that is believed here is closed: what cannot stand beside it
        becomes contradicts edges and merge proposals. The other store is only read; `tenant` names the
        one to absorb, if it is not called as this one. The same again changes nothing.
        """
        from worldline.exchange.absorb import absorb

        if not isinstance(other, Exchanging | str | Path):
            raise InvalidInput(f"absorb takes a Memory or the path of a store, not {other!r}")
        source = other._h if isinstance(other, Exchanging) else other
        return absorb(self._h, source, tenant=tenant, dry_run=dry_run, progress=progress)
