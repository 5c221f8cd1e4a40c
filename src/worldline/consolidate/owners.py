"""Whose memories are consolidated together: never one user's with another's.

An owner is a set of users, agents and apps; its runs belong together, and what is made of them
belongs to the owner as such. What nobody in particular owns is an owner of its own.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from worldline.handle import Handle
from worldline.model import Scope
from worldline.store import registry
from worldline.store.view import SqlView


class Owner(Struct, frozen=True):
    """Scope sets that differ in their runs only."""

    key: str
    scopes: tuple[int, ...]
    home: tuple[Scope, ...]
    """The scopes that what is made of them belongs to."""


def owners(view: SqlView) -> list[Owner]:
    """Everybody whose memories may be seen here, with all their runs; first what nobody in particular owns."""
    if any((view.scope.user, view.scope.agent, view.scope.app)):
        view = view.bind(scope=replace(view.scope, run=None))
    mine = view.scoped("x").replace("x.scope", "x.part_of")
    rows = view.query(
        "SELECT part_of, user, agent, app, run FROM scopes x WHERE tenant = :t AND id IN"
        f" (SELECT id FROM scopes x WHERE tenant = :t AND {mine}) ORDER BY part_of, id"
    )
    members: dict[int, set[Scope]] = {} if view.scope.bound() else {0: set()}
    for whole, *kinds in rows:
        held = members.setdefault(whole, set())
        if any(kinds):
            held.add(Scope(*kinds[:3]) if any(kinds[:3]) else Scope(*kinds))
    grouped: dict[tuple[Scope, ...], list[int]] = {}
    for whole, scopes in sorted(members.items()):
        grouped.setdefault(tuple(sorted(scopes, key=registry.scope_key)), []).append(whole)
    return [
        Owner("|".join(map(registry.scope_key, home)), tuple(wholes), home)
        for home, wholes in grouped.items()
    ]


def home_of(handle: Handle, owner: Owner) -> int:
    """The scope set of an owner without its runs, made where nobody has needed it yet."""
    if not owner.home:
        return 0
    rows = handle.read(
        lambda view: view.query("SELECT id FROM scopes WHERE tenant = :t AND key = :key", key=owner.key)
    )
    if rows:
        return int(rows[0][0])
    with handle.changeset("sleep") as (tx, _):
        return registry.scope_set(tx, owner.home)
