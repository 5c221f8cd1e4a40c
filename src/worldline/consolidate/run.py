"""Sleep, straight through: each pass looks at what is new, and its plan is committed as one changeset.

    for every pass, for every owner:  news → plan (reads only) → carry out, and move the cursor

A plan is made outside any transaction, so that a model may be asked. If somebody wrote meanwhile, it
is made again, and the third time under the write lock. The cursor moves in the transaction of the
changes it stands for: killed at any moment, the next night goes on and does nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from worldline.clock import Instant
from worldline.consolidate.changes import Plan, carry_out
from worldline.consolidate.news import News, news
from worldline.consolidate.night import Night, Pass
from worldline.consolidate.owners import Owner, home_of, owners
from worldline.errors import Conflict, InvalidInput
from worldline.handle import Handle
from worldline.store.view import SqlView

_TRIES = 3
EVERYBODY = "*"
"""Whose cursor stands for all owners that have none of their own."""
Progress = Callable[[str, int, int], None]


PASSES: tuple[Pass, ...] = ()
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
    chosen, everybody = _chosen(passes), handle.read(owners)
    bound, handle = bool(handle.scope.bound()), replace(handle, scopes=(), session=None, world=0)
    slept: list[Slept] = []
    for number, each in enumerate(chosen):
        if progress is not None:
            progress(each.name, number, len(chosen))
        slept += _run(handle, each, everybody, dry_run, bound)
    if progress is not None:
        progress("", len(chosen), len(chosen))
    return Report(tuple(slept), dry_run)


def _chosen(names: Sequence[str] | None) -> list[Pass]:
    known = {each.name: each for each in PASSES}
    if names is None:
        return list(PASSES)
    wrong = [names] if isinstance(names, str) else [name for name in names if name not in known]
    if wrong:
        raise InvalidInput(f"{wrong[0]!r} is not in the list of passes, which are {', '.join(known)}")
    return [each for each in PASSES if each.name in names]


def _run(handle: Handle, each: Pass, everybody: Sequence[Owner], dry_run: bool, bound: bool) -> list[Slept]:
    """One pass for everybody who has something new, or whom it has put off."""
    stands = handle.read(lambda view: _stands(view, each))
    since = stands.get(EVERYBODY, (0, ()))[0]
    fresh = handle.read(lambda view: news(view, since, handle.tenant_row()[4], _verb(each)))
    slept = []
    for owner in everybody:
        cursor, waiting = stands.get(owner.key, (since, ()))
        mine = fresh.within(owner.scopes, cursor)
        if mine or waiting or each.always:
            slept.append(_sleep(handle, each, owner, (mine, waiting), dry_run))
    if not (dry_run or bound) and fresh.until > since:
        with handle.store.writing():
            tenant = handle.tenant_row()[0]
            _stand(handle, tenant, each, EVERYBODY, fresh.until, ())
            handle.store.execute(
                "DELETE FROM sleep WHERE tenant = ? AND pass = ? AND cursor <= ? AND state = '[]' AND owner != ?",
                (tenant, each.name, fresh.until, EVERYBODY),
            )
    return slept


def _verb(each: Pass) -> str:
    return f"sleep {each.name}"


# One pass for one owner -----------------------------------------------------------------------------


def _sleep(
    handle: Handle, each: Pass, owner: Owner, held: tuple[News, tuple[int, ...]], dry_run: bool
) -> Slept:
    began = time.perf_counter()
    scope = owner.scopes[0] if dry_run else home_of(handle, owner)
    night = Night(scope, 0, handle.config, *held, handle.embedder() if each.asks else None)
    told: tuple[str, ...] = ()
    rows, known_at = 0, None
    for left in reversed(range(_TRIES)):
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
                _stand(handle, tx.tenant, each, owner.key, night.news.until, plan.waiting)
                told, rows = tuple(dict.fromkeys(done.told)), done.rows
                known_at = tx.stamp if done.told else None
            break
        except _Moved:
            continue
        except Conflict:
            if not left:
                raise
    return Slept(each.name, owner.key, told, rows, time.perf_counter() - began, None if dry_run else known_at)


def _planned(view: SqlView, each: Pass, owner: Owner, night: Night) -> Plan:
    return each.plan(view.bind(only=owner.scopes), replace(night, now=view.valid))


# Where a pass stands --------------------------------------------------------------------------------


def _stands(view: SqlView, each: Pass) -> dict[str, tuple[int, tuple[int, ...]]]:
    rows = view.query("SELECT owner, cursor, state FROM sleep WHERE tenant = :t AND pass = :p", p=each.name)
    return {
        owner: (cursor, tuple(msgspec.json.decode(state, type=list[int]))) for owner, cursor, state in rows
    }


def _stand(
    handle: Handle, tenant: int, each: Pass, owner: str, cursor: int, waiting: tuple[int, ...]
) -> None:
    handle.store.execute(
        "INSERT OR REPLACE INTO sleep (tenant, owner, pass, cursor, state) VALUES (?, ?, ?, ?, ?)",
        (tenant, owner, each.name, cursor, msgspec.json.encode(waiting).decode()),
    )
