"""Whose memories are consolidated together: never one user's with another's.

An owner is a set of users, agents and apps; its runs belong together, and what is made of them
belongs to the owner as such. What nobody in particular owns is an owner of its own.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from worldline.handle import Handle
from worldline.model import Scope
from worldline.store import nights, registry
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
    found = nights.members(view) if view.scope.bound() else {0: [], **nights.members(view)}
    grouped: dict[tuple[Scope, ...], list[int]] = {}
    for whole, scopes in sorted(found.items()):
        own = {_without_run(scope) for scope in scopes if scope.bound()}
        grouped.setdefault(tuple(sorted(own, key=registry.scope_key)), []).append(whole)
    return [
        Owner("|".join(map(registry.scope_key, home)), tuple(wholes), home)
        for home, wholes in grouped.items()
    ]


def _without_run(scope: Scope) -> Scope:
    return replace(scope, run=None) if scope.user or scope.agent or scope.app else scope


def home_of(handle: Handle, owner: Owner) -> int:
    """The scope set of an owner without its runs, made where nobody has needed it yet."""
    if not owner.home:
        return 0
    home = handle.read(lambda view: nights.scope_set(view, owner.key))
    if home is not None:
        return home
    with handle.changeset("sleep") as (tx, _):
        return registry.scope_set(tx, owner.home)
