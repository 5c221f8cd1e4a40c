"""Looking after a memory: the verbs that prove, count, copy and read it again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from worldline.clock import When, instant
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.handle import Handle
from worldline.model import Scope, Verification
from worldline.read import listing
from worldline.store import health, reindexing, verify
from worldline.store.health import Ailment
from worldline.store.reindexing import Remade
from worldline.write import forget as forgetting
from worldline.write import reread as rereading
from worldline.write.embed import embed_pending
from worldline.write.forget import Forgotten


class Tending:
    """A part of `Memory`."""

    _h: Handle

    def verify(self, progress: verify.Progress | None = None) -> Verification:
        """Recomputes every hash and looks at every logged row; names whatever is damaged."""
        self._h.require_free("verified")
        with self._h.reading():
            return verify.verify(self._h.store, self._h.tenant_row(), progress)

    def forget(
        self,
        ref: Any = None,
        *,
        user: str | None = None,
        scope: Scope | None = None,
        before: When | None = None,
        confirm: bool = False,
        dry_run: bool = False,
        backups: Sequence[str | Path] = (),
        by: str | None = None,
    ) -> Forgotten:
        """Erases for good: a memory (or several), all of a user or another scope, or what is older than a moment.

        With it go its words, vectors, readings, labels, and all that was derived from it alone; what others have
        said too stays theirs. Nobody can bring it back, so it wants `confirm=True`; `dry_run` counts only. A
        tombstone says when and by whom (`by`) something was erased, and `verify` holds as before. `backups` names
        copies of this store in which it is to be erased too.
        """
        chosen = self._chosen(ref, user, scope, before)
        who = by or ("agent" if self._h.agent else "owner" if self._h.scope.bound() else "operator")
        if not (confirm or dry_run):
            would = forgetting.forget(self._h, chosen, who, dry_run=True)
            raise Refused(
                f"this would erase {would.total:,} memories, facts and names for good; nothing was erased yet:"
                " repeat it with confirm=True, or count with dry_run=True"
            )
        done = forgetting.forget(self._h, chosen, who, dry_run=dry_run)
        if dry_run:
            return done
        self._h.store.forget(self._h.tenant)
        self._h.store.forget_caches()
        swept = self._h.store.sweep()
        asked = {"user": user, "scope": scope, "before": before, "confirm": True, "by": who}
        copies = tuple(self._forget_in(path, ref, asked) for path in backups)
        return replace(done, swept=swept, backups=copies)

    def _chosen(
        self, ref: Any, user: str | None, scope: Scope | None, before: When | None
    ) -> forgetting.Chosen:
        if sum(given is not None for given in (ref, user, scope)) > 1 or (
            ref is not None and before is not None
        ):
            raise InvalidInput(
                "name one of: memories, a user, another scope; a moment goes with a scope or alone"
            )
        if ref is None and user is None and scope is None and before is None:
            raise InvalidInput("name what to forget: memories, a user or another scope, or a moment")
        if ref is not None:
            refs = tuple(ref) if isinstance(ref, list | tuple) else (ref,)
            return forgetting.Chosen(refs, self._h.scope)
        asked = Scope(user=user) if user is not None else scope or Scope()
        named = self._h.within(Scope(**{**self._h.scope.bound(), **asked.bound()}))
        moment = None if before is None else instant(before)
        return forgetting.Chosen((), named, moment, whole=bool(asked.bound()))

    def _forget_in(self, path: str | Path, ref: Any, asked: dict[str, Any]) -> str:
        """The same in a copy of this store; what is not in it need not be erased."""
        target = Path(path).expanduser()
        if not target.is_file():
            raise InvalidInput(f"{target} is no copy of this store: there is no such file")
        whose = dict(self._h.scope.bound())
        with type(self).open(target, self._h.config, self._h.tenant) as copy:  # type: ignore[attr-defined]
            for one in ref if isinstance(ref, list | tuple) else (ref,):
                with suppress(NotFound):
                    copy.scoped(**whose).forget(one if one is None else _id_of(one), **asked)
        return str(target)

    def reindex(self) -> Remade:
        """Makes words, descriptions and labels anew from the texts, and drops vectors that nobody can compare.

        Nothing that is believed changes; with an embedder at hand, missing vectors are made as well.
        """
        self._h.require_free("indexed")
        with self._h.changeset("reindex") as (tx, _):
            done = reindexing.reindex(tx)
        self._h.store.forget(self._h.tenant)
        self._h.store.forget_caches()
        embedder = self._h.embedder()
        if embedder is not None:
            embed_pending(self._h, embedder)
        return done

    def ailments(self) -> tuple[Ailment, ...]:
        """What is wrong with the store that can be seen at once, each with the command that mends it."""
        self._h.require_free("examined")
        embedder = self._h.embedder()
        with self._h.reading():
            return health.ailments(
                self._h.store, self._h.tenant_row().id, embedder.identity if embedder else None
            )

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
        own = Path(self._h.store.path)
        if target.resolve() == own.resolve() or (target.exists() and own.exists() and target.samefile(own)):
            raise Refused(f"{target} is the store itself; back it up into another file")
        self._h.store.backup(str(target))


def _id_of(ref: Any) -> Any:
    """What names a memory in another store too."""
    return ref if isinstance(ref, str) else getattr(ref, "id", ref)
