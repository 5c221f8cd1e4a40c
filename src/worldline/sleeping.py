"""The part of Memory that sleeps: consolidation, and what it is told and asked.

It binds the parts together and decides nothing itself: the walk is in `consolidate/run.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from worldline.handle import Handle

if TYPE_CHECKING:
    from worldline.consolidate.run import Progress, Report


class Sleeping:
    """What a handle can be told to think over. The modules behind it are loaded when needed."""

    _h: Handle

    def consolidate(
        self,
        passes: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Report:
        """Thinks over what is new: all passes, or the named ones, in their order.

        It only adds understanding and never deletes a source. A second run right after the first
        changes nothing; `dry_run` says what each pass, by itself, would change.
        """
        from worldline.consolidate.run import consolidate

        return consolidate(self._h, passes, dry_run=dry_run, progress=progress)
