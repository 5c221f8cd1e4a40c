"""Forgetting for good: which memories go with a text, a scope or a time, and what stays without its share.

    chosen lineages → all that rests on them alone → names and sessions that nothing else needs →
    words, rows, tombstones (one changeset) → the pages of the file

What rests on other words too stays, without this ground; where it repeats words that nobody else has
written it goes as well, and the other words are read again. What a night retold goes and is made anew.
What goes with what, and how rows are deleted, is in `store/erasing.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from worldline import Later
from worldline.clock import Instant
from worldline.errors import InvalidInput, NotFound, Refused
from worldline.handle import Handle
from worldline.model import Scope
from worldline.rules.identity import block_keys
from worldline.rules.slots import label, sentence
from worldline.store import erasing
from worldline.store.erasing import Doomed, Sets
from worldline.store.indexing import WrittenText, unindex, written
from worldline.store.tx import Tx
from worldline.text import words

if TYPE_CHECKING:
    from worldline.store import sqlite
else:
    sqlite = Later("worldline.store.sqlite")

NAMELESS = "somebody"
"""What an entity is called whose every name was forgotten."""
_TOKEN = re.compile(r"\w+")
_LOOKED = 500
"""So many texts that hold a word are looked at for it."""


class Forgotten(Struct, frozen=True):
    """What was erased, as numbers; nothing in it says what it was."""

    known_at: Instant
    memories: int
    """Texts and notes."""
    facts: int
    derived: int
    """Summaries, topics and happenings that nights had made of them."""
    entities: int
    names: int
    shared: int
    """What others have said too: it stays theirs."""
    vectors: int
    by: str = ""
    swept: bool = False
    """Whether nothing of it is left in free pages and logs of the store's files."""
    backups: tuple[str, ...] = ()
    """Copies of the store in which it was erased as well."""
    dry_run: bool = False

    @property
    def total(self) -> int:
        return self.memories + self.facts + self.derived + self.entities + self.shared


class Chosen(Struct, frozen=True):
    """What is to be forgotten: memories, or all of a scope, or what is older than a moment; within a scope."""

    refs: tuple[object, ...] = ()
    scope: Scope = Scope()
    before: Instant | None = None
    whole: bool = False
    """Everything of the scope, and the scope's own name."""


class ToForget(Struct, frozen=True):
    """What somebody names to be forgotten: one of memories, a user or another scope; or a moment."""

    ref: Any = None
    user: str | None = None
    scope: Scope | None = None
    before: Instant | None = None

    def chosen(self, handle: Handle) -> Chosen:
        """The same, inside what the handle is bound to."""
        named = [given for given in (self.ref, self.user, self.scope) if given is not None]
        if len(named) > 1 or (self.ref is not None and self.before is not None):
            raise InvalidInput(
                "name one of: memories, a user, another scope; a moment goes with a scope or alone"
            )
        if not named and self.before is None:
            raise InvalidInput("name what to forget: memories, a user or another scope, or a moment")
        if self.ref is not None:
            return Chosen(tuple(_each(self.ref)), handle.scope)
        asked = Scope(user=self.user) if self.user is not None else self.scope or Scope()
        whole = handle.within(Scope(**{**handle.scope.bound(), **asked.bound()}))
        return Chosen((), whole, self.before, whole=bool(asked.bound()))


def _each(ref: Any) -> Sequence[Any]:
    return ref if isinstance(ref, list | tuple) else (ref,)


def forget_for_good(
    handle: Handle,
    told: ToForget,
    who: str,
    *,
    confirm: bool,
    dry_run: bool,
    backups: Sequence[str | Path] = (),
) -> Forgotten:
    """Erases what was named, here and in copies of the store; refused without `confirm`."""
    if not (confirm or dry_run):
        would = forget(handle, told.chosen(handle), who, dry_run=True)
        raise Refused(
            f"this would erase {would.total:,} memories, facts and names for good; nothing was erased yet:"
            " repeat it with confirm=True, or count with dry_run=True"
        )
    done = forget(handle, told.chosen(handle), who, dry_run=dry_run)
    if dry_run:
        return done
    handle.store.forget(handle.tenant)
    handle.store.forget_caches()
    swept = handle.store.sweep()
    return replace(done, swept=swept, backups=tuple(_forget_in(path, handle, told, who) for path in backups))


def _forget_in(path: str | Path, handle: Handle, told: ToForget, who: str) -> str:
    """The same in a copy of this store; what is not in it need not be erased."""
    target = Path(path).expanduser()
    if not target.is_file():
        raise InvalidInput(f"{target} is no copy of this store: there is no such file")
    store = sqlite.open_store(target, handle.config)
    try:
        for one in _each(told.ref):
            with suppress(NotFound):
                own = replace(told, ref=one if isinstance(one, str) else getattr(one, "id", one))
                copy = replace(handle, store=store, world=0, session=None)
                forget_for_good(copy, own, who, confirm=True, dry_run=False)
    finally:
        store.close()
    return str(target)


def forget(handle: Handle, chosen: Chosen, who: str, *, dry_run: bool = False) -> Forgotten:
    """Erases what was chosen and all that rests on it alone, in one changeset."""
    free = replace(handle, scopes=(), session=None, world=0)
    with free.changeset("forget", keep=not dry_run) as (tx, _):
        sets = erasing.sets_of(tx, chosen.scope)
        lines = _lines(tx, handle, chosen, sets)
        if tx.root in lines:
            raise Refused("the root of a memory cannot be forgotten; delete the store instead")
        if not lines:
            raise NotFound("nothing here is to be forgotten")
        done = _forget(tx, lines, sets, who, scopes=chosen.whole and chosen.before is None)
    return replace(done, dry_run=dry_run)


def _lines(tx: Tx, handle: Handle, chosen: Chosen, sets: Sets) -> set[int]:
    """The lineages that somebody named, or that fit."""
    if chosen.refs:
        view = tx.as_view(world=handle.world, scope=handle.scope)
        found = {handle.resolve(view, ref).line for ref in chosen.refs}
        return erasing.inside(tx, found)
    if sets.numbers == ():
        return set()
    if chosen.before is not None:
        return erasing.texts_before(tx, chosen.before, sets)
    if not chosen.scope.bound():
        raise InvalidInput("name what to forget: memories, a user or another scope, or a moment")
    return erasing.lines_in(tx, sets)


def _forget(tx: Tx, lines: Collection[int], sets: Sets, who: str, *, scopes: bool) -> Forgotten:
    gone = set(lines)
    touched = _close(tx, gone, sets)
    doomed = _divided(tx, gone, sets, scopes)
    doomed.blank = erasing.only_theirs(tx, doomed.shares, sets)
    doomed.renamed |= dict.fromkeys(doomed.blank, ("", ""))
    kinds = _unindexed(tx, doomed, {*erasing.versions(tx, doomed.lines), *doomed.blank})
    said = _tokens(text for one in kinds for text in (one.name, one.content, one.metadata or ""))
    if more := _scrub(tx, doomed, touched, said):
        kinds += _unindexed(tx, doomed, erasing.versions(tx, more))
        doomed.lines |= more
    names = len(erasing.names_of(tx, doomed.lines)) + len(doomed.aliases)
    rows, vectors = erasing.erase(tx, doomed, who)
    own = [one for one in kinds if one.line in doomed.lines and one.line == one.node]
    by_type = {"Fact": 0, "Entity": 0, "Scope": 0, "Session": 0, "derived": 0, "": 0}
    for one in own:
        kind = "derived" if one.made else one.type if one.type in by_type else ""
        by_type[kind] += 1
    tx.changes.append(f"erased {rows:,} rows")
    return Forgotten(
        tx.stamp, by_type[""], by_type["Fact"], by_type["derived"], by_type["Entity"], names,
        len(doomed.shares), vectors, who,
    )  # fmt: skip


def _unindexed(tx: Tx, doomed: Doomed, nodes: Collection[int]) -> list[WrittenText]:
    """These texts, which are found no more."""
    texts = written(tx, nodes)
    unindex(tx, nodes)
    doomed.unindexed |= set(nodes)
    return texts


def _close(tx: Tx, gone: set[int], sets: Sets) -> set[int]:
    """Adds all that rests on these alone; the lineages that lose a part of their ground only."""
    touched: set[int] = set()
    frontier = set(gone)
    while frontier:
        more = erasing.facts_about(tx, frontier, sets) - gone
        for one in erasing.resting_on(tx, frontier, sets):
            alone = not one.own and not set(one.others) - gone
            if one.line not in gone and (one.made is not None or alone):
                more.add(one.line)
            elif one.line not in gone:
                touched.add(one.line)
        gone |= more
        if not more:
            entities, sessions = erasing.around(tx, gone)
            more = erasing.unused(tx, entities - gone, gone, sets)
            more |= erasing.emptied(tx, sessions - gone, gone)
            touched |= entities
            gone |= more
        frontier = more
    return touched - gone


def _divided(tx: Tx, gone: set[int], sets: Sets, scopes: bool) -> Doomed:
    """What goes whole, and what stays because others believe it, or because something of theirs lies in it."""
    stay = erasing.shared(tx, gone, sets)
    while (
        held := erasing.holding_others(tx, gone, stay) - stay if stay or sets.numbers is not None else set()
    ):
        stay |= held
    return Doomed(gone - stay, stay, sets, scopes)


# Words that nobody else has written --------------------------------------------------------------------


def _tokens(texts: Iterable[str]) -> set[str]:
    return {token for text in texts for token in _TOKEN.findall(text.casefold())}


def _only_there(tx: Tx, tokens: Collection[str]) -> set[str]:
    """Those of these words that no text holds any more."""
    only = set()
    for token in sorted(tokens):
        terms = set(words(token, tx.language)) | {token}
        held = erasing.texts_holding(tx, terms, _LOOKED)
        if not any(token in text.casefold() for text in held):
            only.add(token)
    return only


def _scrub(tx: Tx, doomed: Doomed, touched: Collection[int], said: Collection[str]) -> set[int]:
    """Names and wordings of what stays lose the words that only the forgotten texts had; facts that would go too."""
    stay = [one for one in written(tx, erasing.versions(tx, touched)) if one.type in ("Fact", "Entity")]
    entities = [one for one in stay if one.type == "Entity"]
    lines = {one.line for one in entities}
    names = erasing.names_of(tx, lines)
    wordings = erasing.wordings_of(tx, lines)
    reasons = erasing.reasons_of(tx, lines)
    held = _tokens(
        [
            *(one.name for one in stay),
            *(one.content for one in stay),
            *(name for _, _, name in names),
            *(told for _, told in reasons),
        ]
    )
    only = _only_there(tx, (held & set(said)) | {kind for _, kind in wordings})
    if not only:
        return set()
    doomed.wordings |= {(object_, kind) for object_, kind in wordings if kind in only}
    doomed.aliases |= {row for row, _, name in names if _tokens([name]) & only}
    left = {line: name for _, line, name in reversed(names) if not _tokens([name]) & only}
    doomed.proposals |= {row for row, told in reasons if _tokens([told]) & only}
    for line in {line for row, line, _ in names if row in doomed.aliases}:
        rest = [name for row, of, name in names if of == line and row not in doomed.aliases]
        doomed.blocks[line] = {key for name in rest for key in block_keys(name)}
    entities = [one for one in entities if _tokens([one.name]) & only]
    called = {one.line: left.get(one.line, NAMELESS) for one in entities}
    for one in entities:
        doomed.renamed[one.node] = called[one.line], one.content
    about = erasing.said_of(tx, called)
    more = set()
    for fact in about:
        ends = called.get(fact.subject, fact.subject_name), called.get(fact.object, fact.value)
        if fact.node not in doomed.lines:
            doomed.renamed[fact.node] = label(fact.phrase), sentence(ends[0], fact.phrase, ends[1])
    for one in stay:
        text = doomed.renamed.get(one.node, (one.name, one.content))
        if one.type == "Fact" and _tokens(text) & only:
            more.add(one.line)
            doomed.renamed.pop(one.node, None)
    doomed.reread |= set(erasing.grounds_of(tx, more))
    return more
