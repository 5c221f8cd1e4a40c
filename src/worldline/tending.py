"""Looking after a memory: the verbs that prove, count, copy and read it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from worldline.errors import Refused
from worldline.handle import Handle
from worldline.model import Verification
from worldline.read import listing
from worldline.store import verify
from worldline.write import reread as rereading


class Tending:
    """A part of `Memory`."""

    _h: Handle

    def verify(self, progress: verify.Progress | None = None) -> Verification:
        """Recomputes every hash and looks at every logged row; names whatever is damaged."""
        self._h.require_free("verified")
        with self._h.reading():
            return verify.verify(self._h.store, self._h.tenant_row(), progress)

    def stats(self) -> dict[str, Any]:
        """How much is stored, and where."""
        found = self._h.read(lambda view: listing.stats(view, self._h.store))
        of_all = ("changesets", "bytes") if self._h.confined.bound() else ()
        return {name: count for name, count in found.items() if name not in of_all}

    def readers(self) -> dict[str, int]:
        """Who has read the events of this tenant, and how many each; the empty name stands for nobody."""
        self._h.require_free("counted")
        return self._h.read(rereading.readers)

    def reread(
        self,
        *,
        everything: bool = False,
        progress: rereading.Progress | None = None,
        dry_run: bool = False,
    ) -> rereading.Reread:
        """Reads again what another reader read, or everything, and brings the facts up to date.

        What is no longer drawn from a text is withdrawn, what is new is believed, everything else is
        left alone; so is what was given, confirmed or corrected by hand. A second run changes nothing.
        """
        self._h.require_free("read again")
        return rereading.reread(self._h, everything=everything, progress=progress, dry_run=dry_run)

    def backup(self, path: str | Path) -> None:
        """A whole copy of the store in another file, taken while others go on writing."""
        self._h.require_free("copied")
        target = Path(path).expanduser()
        if target.resolve() == Path(self._h.store.path).resolve():
            raise Refused(f"{target} is the store itself; back it up into another file")
        self._h.store.backup(str(target))
