"""Whom a name means here: an entity, a speaker, or both; and everything that they are called.

Only what the view may see counts: a speaker none of whose turns is visible is nobody here, and a
wrong name is answered with near ones that are.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from worldline.errors import NotFound
from worldline.handle import Handle
from worldline.inputs import clean_name
from worldline.ports import View
from worldline.store import people
from worldline.text import fold

_ID = re.compile(r"[0-9a-f]{8,64}")
NEAR = 5
_LOOKED_AT = 40
"""So many near names are looked at for some that may be seen."""


class Person(Struct, frozen=True):
    """Somebody: what to call them, their entities (lineages), and their names, folded."""

    name: str
    entities: tuple[int, ...]
    speakers: tuple[str, ...]
    called: frozenset[str]


def somebody(view: View, handle: Handle, who: Any) -> Person:
    """Somebody by name; by id where nobody has that name."""
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


def person(view: View, name: str) -> Person:
    """The one who is called so; NotFound, with near names, where nobody is."""
    key = fold(name)
    lines = _entities(view, key)
    names = people.names_of(view, lines)
    keys = {fold(one) for one in names} | {key}
    spoken = people.heard(view, sorted(keys))
    if not spoken and not lines:
        spoken = _by_first_name(view, key)
    if not spoken and not lines:
        raise NotFound(_nobody(view, name, key))
    shown = _shown(view, spoken, names) or name
    called = keys | set(spoken) | {one.split()[0] for one in (*keys, *spoken) if one}
    return Person(shown, tuple(lines), tuple(spoken), frozenset(called))


def _entities(view: View, key: str) -> list[int]:
    """The visible entities of this name, with what was accepted as the same."""
    lines = sorted({one.line for one in people.called(view, [key])})
    lines = view.same_as(*lines) if lines and view.has_merges() else lines
    seen = view.bind(world=0).visible(lines)  # entities live in the root, whichever world speaks of them
    return [node.line for node in seen]


def _by_first_name(view: View, key: str) -> list[str]:
    """The one speaker of this first name."""
    heard = people.heard(view, [name for name in people.speakers(view) if name.split()[0] == key])
    return heard if len(heard) == 1 else []


def _shown(view: View, speakers: Sequence[str], names: Sequence[str]) -> str:
    """A name as it was written."""
    return names[0] if names else people.written(view, speakers[0] if speakers else "")


def _nobody(view: View, name: str, key: str) -> str:
    near = difflib.get_close_matches(key, people.speakers(view), n=_LOOKED_AT, cutoff=0.5)
    seen = set(people.heard(view, near))
    heard = [one for one in near if one in seen]
    by_key = people.names_near(view, key)
    heard += difflib.get_close_matches(key, list(by_key), n=NEAR, cutoff=0.6)
    told = ", ".join(dict.fromkeys(by_key.get(one) or _shown(view, [one], ()) for one in heard[:NEAR]))
    hint = f"; did you mean {told}?" if told else ""
    return f"nobody here is called {name[:80]!r}{hint}"
