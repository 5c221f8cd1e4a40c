"""Sleep, straight through: each pass looks at what is new, and its plan is committed as one changeset.

    for every pass, for every owner:  news → plan (reads only) → carry out, and move the cursor

A plan is made outside any transaction, so that a model may be asked. If somebody wrote meanwhile, it
is made again, and the third time under the write lock. The cursor moves in the transaction of the
changes it stands for: killed at any moment, the next night goes on and does nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import NOW, Instant
from worldline.consolidate import News, Night, NightFeed, Pass, Plan, carry_out
from worldline.consolidate.facts import chain, contradict, infer, merge
from worldline.consolidate.weight import compact, decay, fold_uses, ground, judge, profile, promote
from worldline.consolidate.worlds import compose, summarise, topics
from worldline.errors import Conflict, InvalidInput, ReadOnly, Refused
from worldline.handle import Handle
from worldline.model import Scope
from worldline.ports import View
from worldline.store import nights, registry
from worldline.store.view import grouped, scope_key
from worldline.write.afterwards import embed_new

_TRIES = 3
_BEHIND = 1000
"""Whoever lags by more changesets than this, or has put off so much that was said ahead of the clock, is left to a
night: by day all that was put off would be looked at with every text."""
Progress = Callable[[str, int, int], None]


PROFILES = Pass("profiles", "who writes how, with whom, and what befell them", profile, by_day=True)
PASSES: tuple[Pass, ...] = (
    Pass("uses", "what was shown and judged reaches the strength of memories", fold_uses, always=True),
    Pass("surprise", "how much of each new text was new, and what of a life it tells", judge),
    Pass("chains", "what texts say caused what", chain),
    Pass("redundancy", "facts that say the same become one, with all evidence", merge),
    Pass("contradictions", "what cannot hold at the same time, joined and shown", contradict),
    Pass("grounding", "what has lost its evidence is kept back", ground),
    Pass("infer", "causes of causes and types of types", infer),
    Pass("funnel", "traces become units, and units crystals", promote),
    PROFILES,
    Pass("topics", "stretches of talk that belong together, and the ways between them", topics),
    Pass("summaries", "one summary for each world, citing what it says", summarise, asks=True),
    Pass("compose", "the vectors of worlds, from what they contain", compose),
    Pass("decay", "what was not used for long goes cold", decay, always=True),
    Pass("compact", "thinned out chunks of the words index are joined", compact, always=True),
)
"""In the order in which they run: each stands on the ones before it."""


class Slept(Struct, frozen=True):
    """What one pass did for one owner."""

    name: str
    owner: str
    changes: tuple[str, ...]
    """A line for each memory, edge and mark that was put, amended or closed."""
    rows: int
    """How many derived rows were written."""
    seconds: float
    known_at: Instant | None = None
    """Its changeset; None where there was none."""
    note: str = ""
    """Why it could do nothing, where that is so."""


class Report(Struct, frozen=True):
    """What a night did: a line for each pass and owner that had something to look at."""

    passes: tuple[Slept, ...]
    dry_run: bool = False

    @property
    def changed(self) -> bool:
        return any(slept.changes for slept in self.passes)


class _Moved(Exception):
    """Somebody wrote between a plan and its commit."""


def consolidate(
    handle: Handle,
    passes: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Runs the named passes (all of them) for every owner that this handle may see."""
    if handle.moment != NOW:
        raise ReadOnly("this handle looks at another moment; consolidate through the one it was made from")
    if handle.world:
        raise Refused("sleep is for a whole memory; consolidate through the handle that entered no world")
    if handle.store.shown and not dry_run:
        with handle.writing():  # takes down what recalls have shown
            pass
    chosen, whose = _chosen(passes), handle.scope
    handle = replace(handle, scopes=(), session=None, world=0)
    slept: list[Slept] = []
    feed = NightFeed()
    for number, each in enumerate(chosen):
        if progress is not None:
            progress(each.name, number, len(chosen))
        slept += _run(handle, each, whose, feed, dry_run)
    if progress is not None:
        progress("", len(chosen), len(chosen))
    if not (dry_run or whose.bound()) and passes is None:
        with handle.writing() as tenant:  # a night right after this one would do nothing
            nights.leave_behind(handle.store, tenant.id, tenant.sequence)
    return Report(tuple(slept), dry_run)


def _chosen(names: Sequence[str] | None) -> list[Pass]:
    known = {each.name: each for each in PASSES}
    if names is None:
        return list(PASSES)
    listed = isinstance(names, list | tuple | set | frozenset)
    wrong = [name for name in names if name not in known] if listed else [names]
    if wrong:
        raise InvalidInput(f"{wrong[0]!r} is not in the list of passes, which are {', '.join(known)}")
    return [each for each in PASSES if each.name in names]


def _run(handle: Handle, each: Pass, whose: Scope, feed: NightFeed, dry_run: bool) -> list[Slept]:
    """One pass for everybody who has something new, or whom it has put off."""
    with handle.reading():
        view = handle.view()
        stands = nights.stands(view, each.name)
        since = stands.get(nights.EVERYBODY, nights.Stand()).cursor
        fresh = feed.news(view, since, handle.tenant_row()[4], _verb(each))
        everybody = owners(view.bind(scope=whose))
    theirs = fresh.divided({scope: owner.key for owner in everybody for scope in owner.scopes})
    slept = []
    for owner in everybody:
        stood = stands.get(owner.key, nights.Stand(since))
        mine = theirs.get(owner.key, News(since, fresh.until)).after(stood.cursor)
        if mine or stood.waiting or each.always:
            slept.append(_sleep(handle, each, owner, (mine, stood.waiting), dry_run))
    if not (dry_run or whose.bound()) and fresh.until > since:
        with handle.writing():
            nights.stand_for_all(handle.store, handle.tenant_row()[0], each.name, fresh.until)
    return slept


def _verb(each: Pass) -> str:
    return f"sleep {each.name}"


# By day ---------------------------------------------------------------------------------------------


def keep_up(handle: Handle) -> None:
    """Profiles, while people talk: the pass takes in what is new of whoever writes here, if that is not much."""
    if not handle.moment.is_now:
        return
    home = _home(handle.scopes)
    whole = replace(handle, scopes=(), session=None, world=0, after_write=embed_new)
    with whole.reading() as tenant:
        view = whole.view(tenant)
        stands = nights.stands(view, PROFILES.name, (home.key, nights.EVERYBODY))
        everybody = stands.get(nights.EVERYBODY, nights.Stand())
        stood = stands.get(home.key, everybody)
        since = max(stood.cursor, everybody.cursor)
        if max(tenant.sequence - since, len(stood.waiting)) > _BEHIND:
            return
        owner = next((o for o in owners(view.bind(scope=handle.scope)) if o.key == home.key), home)
        fresh = NightFeed().news(view, since, tenant.sequence, _verb(PROFILES))
    mine = fresh.divided(dict.fromkeys(owner.scopes, owner.key)).get(owner.key)
    if mine:
        _sleep(whole, PROFILES, owner, (mine, stood.waiting), False)


# Whose memories -------------------------------------------------------------------------------------


class Owner(Struct, frozen=True):
    """Scope sets that differ in their runs only."""

    key: str
    scopes: tuple[int, ...]
    home: tuple[Scope, ...]
    """The scopes that what is made of them belongs to."""


def owners(view: View) -> list[Owner]:
    """Everybody whose memories may be seen here, with all their runs; first what nobody in particular owns."""
    if any((view.scope.user, view.scope.agent, view.scope.app)):
        view = view.bind(scope=replace(view.scope, run=None))
    found = nights.members(view) if view.owned else {0: [], **nights.members(view)}
    theirs = grouped((_home(scopes), whole) for whole, scopes in sorted(found.items()))
    return [replace(owner, scopes=tuple(wholes)) for owner, wholes in theirs.items()]


def _home(scopes: Sequence[Scope]) -> Owner:
    """The owner of what is written in these scopes, so far without scope sets."""
    own = {
        replace(scope, run=None) if scope.user or scope.agent or scope.app else scope
        for scope in scopes
        if scope.bound()
    }
    home = tuple(sorted(own, key=scope_key))
    return Owner("|".join(map(scope_key, home)), (), home)


def home_of(handle: Handle, owner: Owner) -> int:
    """The scope set of an owner without its runs, made where nobody has needed it yet."""
    if not owner.home:
        return 0
    home = handle.read(lambda view: nights.scope_set(view, owner.key))
    if home is not None:
        return home
    with handle.changeset("sleep") as (tx, _):
        return registry.scope_set(tx, owner.home)


# One pass for one owner -----------------------------------------------------------------------------


def _sleep(
    handle: Handle, each: Pass, owner: Owner, held: tuple[News, tuple[int, ...]], dry_run: bool
) -> Slept:
    began = time.perf_counter()
    scope = owner.scopes[0] if dry_run else home_of(handle, owner)
    night = Night(scope, 0, handle.config, *held, handle.embedder() if each.asks else None)
    told: tuple[str, ...] = ()
    rows, known_at, plan = 0, None, Plan()
    for left in reversed(range(_TRIES)):
        with handle.reading() if each.by_day else nullcontext():
            seen = handle.tenant_row()[4]
            plan = _planned(handle.view(), each, owner, night)
        if not plan.changes and plan.waiting == night.waiting:
            break
        try:
            with handle.changeset(_verb(each), keep=not dry_run) as (tx, _):
                tx.scope_id = scope
                if tx.sequence != seen and left:
                    raise _Moved
                if tx.sequence != seen and not each.asks:
                    plan = _planned(tx.as_view(), each, owner, night)
                done = carry_out(tx, plan.changes, scope)
                stood = nights.Stand(night.news.until, plan.waiting)
                nights.stand(handle.store, tx.tenant, each.name, owner.key, stood)
                told, rows = done.told, done.rows
                known_at = tx.stamp if done.told else None
            break
        except _Moved:
            continue
        except Conflict:
            if not left:
                raise
    spent, stamp = time.perf_counter() - began, None if dry_run else known_at
    return Slept(each.name, owner.key, told, rows, spent, stamp, plan.note)


def _planned(view: View, each: Pass, owner: Owner, night: Night) -> Plan:
    return each.plan(view.bind(only=owner.scopes), replace(night, now=view.valid))
