"""The part of Memory that sleeps: consolidation, and what it is told and asked.

It binds the parts together and decides nothing itself: the walk is in `consolidate/run.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from worldline.clock import EARLIEST, FOREVER, When, instant
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.handle import Done, Handle, Place
from worldline.model import Believed, Hit, Receipt, Scorer
from worldline.ports import Tx, View
from worldline.store.erasing import is_unswept
from worldline.store.shown import note_use
from worldline.write.check import clean_name
from worldline.write.redact import redacting
from worldline.write.remember import resume

if TYPE_CHECKING:
    from worldline.consolidate.run import Progress, Report
    from worldline.model import Contradiction
    from worldline.read.episodes import Episode
    from worldline.read.person import Person
    from worldline.read.profile import Profile

_ID = re.compile(r"[0-9a-f]{8,64}")


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

        self._h.require_free("consolidated")
        if self._h.scorers and passes is None and not dry_run:
            from worldline.consolidate.warmth import catch_up

            catch_up(self._whole("scored"), self._h.scorers.values())
        if not dry_run and passes is None:
            resume(self._h, by_rules=True)
        if not dry_run and is_unswept(self._h.store):
            self._h.store.sweep()
        return consolidate(self._h, passes, dry_run=dry_run, progress=progress)

    # What is used stays warm -------------------------------------------------------------------

    def feedback(self, ref: Any, verdict: Literal["useful", "wrong"]) -> Receipt:
        """Says of something recalled that it helped, or that it did not; sleep makes it count."""
        if verdict not in ("useful", "wrong"):
            raise InvalidInput(f"feedback is useful or wrong, not {verdict!r}")

        def work(tx: Tx, place: Place) -> Done:
            target = self._h.target(tx, _meant(ref))
            note_use(tx, target.line, verdict)
            return tx.id_of(target.line), True

        return self._h.write("feedback", work)

    @redacting
    def pin(self, ref: Any, reason: str = "pinned by the user", *, dry_run: bool = False) -> Receipt:
        """Keeps it from going cold, and brings it back if it has."""
        return self._pinned(ref, "pinned", reason, dry_run)

    def unpin(self, ref: Any, *, dry_run: bool = False) -> Receipt:
        """Lets it fade like the rest again."""
        return self._pinned(ref, None, "no longer pinned", dry_run)

    def _pinned(self, ref: Any, value: str | None, reason: str, dry_run: bool) -> Receipt:
        from worldline.store.cold import wake
        from worldline.store.nights import set_mark

        def work(tx: Tx, place: Place) -> Done:
            target = self._h.target(tx, _meant(ref))
            changed = set_mark(tx, target.line, "pin", value, reason, place.scope)
            if value is not None:
                changed |= wake(tx, target.line)
            return tx.id_of(target.line), changed

        return self._h.write("unpin" if value is None else "pin", work, dry_run=dry_run)

    # Scorers of one's own ------------------------------------------------------------------------

    def score_with(self, scorer: Scorer, progress: Callable[[int, int], None] | None = None) -> int:
        """Adds a scorer and runs it over everything stored; how many memories it has judged now.

        Recall adds its weight times its score as a factor. This process runs it each night over what
        is new; a run that is ended goes on where it was.
        """
        from worldline.consolidate import warmth

        if not isinstance(scorer, Scorer):
            raise InvalidInput(f"score_with takes a Scorer(name, version, score, weight), not {scorer!r}")
        clean_name(scorer.name)
        handle = self._whole("scored")
        warmth.register(handle, scorer)
        self._h.scorers[scorer.name] = scorer
        return warmth.score_all(handle, scorer, progress)

    def drop_scorer(self, name: str) -> bool:
        """Takes a scorer and all its scores away; recall is as it was before. False where there is none."""
        from worldline.consolidate import warmth

        self._h.scorers.pop(name, None)
        return warmth.unregister(self._whole("scored"), name)

    def _whole(self, verb: str) -> Handle:
        """The handle without scope, session and world; agents may not have it."""
        if self._h.agent:
            raise Refused(f"a memory is {verb} by its operator, not by an agent")
        self._h.require_free(verb)
        return replace(self._h, scopes=(), session=None, world=0)

    # Who is who ------------------------------------------------------------------------------------

    def profile(self, who: Any) -> Profile:
        """What is known of a person, by name or entity: attributes, style, relations, landmarks, causes."""
        from worldline.read.profile import profile

        return self._h.read(lambda view: profile(view, _person(view, self._h, who)))

    def episodes(
        self, from_: When | None = None, to: When | None = None, *, limit: int = 20, read: bool = False
    ) -> tuple[Episode, ...]:
        """The newest stretches of talk in some time, oldest first; with `read`, what was said in them."""
        from worldline.read.episodes import episodes

        if type(limit) is not int or not 1 <= limit <= 1000:
            raise InvalidInput(f"ask for 1 to 1000 episodes, not {limit!r}")
        within = (EARLIEST if from_ is None else instant(from_), FOREVER if to is None else instant(to))
        return self._h.read(lambda view: episodes(view, within, limit, read=read))

    def conflicts(self) -> tuple[Contradiction, ...]:
        """What is believed and cannot all be true: both sides, with their dates and sources."""
        from worldline.read.listing import conflicts

        return self._h.read(conflicts)


def _person(view: View, handle: Handle, who: Any) -> Person:
    """Somebody by name; by id where nobody has that name."""
    from worldline.read.person import person

    if isinstance(who, str):
        clean_name(who)
        try:
            return person(view, who)
        except NotFound:
            if not _ID.fullmatch(who.strip().lower()):
                raise
    node = view.latest(handle.resolve(view, who).line)
    if node is None or node.type not in ("Entity", "Turn"):
        raise NotFound("a profile is of a person: give a name, or the id of an entity")
    return person(view, node.name)


def _meant(ref: Any) -> Any:
    """What a caller holds after a recall, as what the store is asked for."""
    return ref.node if isinstance(ref, Hit) else ref.id if isinstance(ref, Believed) else ref
