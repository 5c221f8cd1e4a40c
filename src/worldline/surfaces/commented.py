"""JSON as editors keep it, with comments and trailing commas: read, and one member put in or taken out.

Only the text of that member changes, so that whoever wrote the rest finds it as it was.

>>> put('{ // mine\\n}', ("servers",), "a", {"command": "b"})
'{\\n  "servers": {\\n    "a": {\\n      "command": "b"\\n    }\\n  } // mine\\n}'
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_PIECE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"/]+|["/]', re.S)

_IDLE = ((",", "}"), (",", "]"))
"""Commas that nothing follows."""


class Piece(NamedTuple):
    """A word or sign, and where it stands."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the text goes on."""
        return self.start + len(self.text)


class Member(NamedTuple):
    """A member of an object: the pieces of its name, and of the beginning and the end of its value."""

    name: int
    first: int
    last: int


def load(text: str) -> Any:
    """The value, as `json.loads` gives it; a text without anything is an empty object."""
    pieces = [piece.text for piece in _pieces(text)]
    strict = [one for one, then in zip(pieces, [*pieces[1:], ""], strict=False) if (one, then) not in _IDLE]
    return json.loads(" ".join(strict) or "{}")


def put(text: str, path: Sequence[str], name: str, value: Any) -> str:
    """The text with a member in the object that a path of names leads to; what is not there is made."""
    text = text if text.strip() else "{}\n"
    pieces, at = _pieces(text), 0
    for depth, step in enumerate(path):
        member = _members(pieces, at).get(step)
        if member is None:
            for inner in reversed(path[depth + 1 :]):
                name, value = inner, {name: value}
            return _inserted(text, pieces, at, depth, step, {name: value})
        at = member.first
    if (old := _members(pieces, at).get(name)) is not None:
        told = _told(value, len(path))
        return text[: pieces[old.first].start] + told + text[pieces[old.last].end :]
    return _inserted(text, pieces, at, len(path), name, value)


def take(text: str, path: Sequence[str], name: str) -> str:
    """The text without a member; the same where it is not there."""
    pieces, place = _pieces(text), Member(0, 0, 0)
    for step in (*path, name):
        found = _members(pieces, place.first).get(step) if pieces[place.first].text == "{" else None
        if found is None:
            return text
        place = found
    before, end = pieces[place.name - 1], pieces[place.last].end
    space = text[before.end : pieces[place.name].start].rstrip()
    if pieces[place.last + 1].text == ",":
        end = pieces[place.last + 1].end
    elif before.text == ",":
        return text[: before.start] + space + text[end:]
    return text[: before.end] + space + text[end:]


def _pieces(text: str) -> list[Piece]:
    """Words and signs without comments."""
    return [Piece(m[0], m.start()) for m in _PIECE.finditer(text) if not m[0].startswith(("//", "/*"))]


def _members(pieces: Sequence[Piece], at: int) -> dict[str, Member]:
    """The members of the object that begins at a piece."""
    found: dict[str, Member] = {}
    place = at + 1
    while pieces[place].text != "}":
        if pieces[place].text == ",":
            place += 1
            continue
        last = _last(pieces, place + 2)
        found[json.loads(pieces[place].text)] = Member(place, place + 2, last)
        place = last + 1
    return found


def _last(pieces: Sequence[Piece], at: int) -> int:
    """The last piece of the value that begins at a piece."""
    depth = 0
    for place in range(at, len(pieces)):
        depth += (pieces[place].text in ("{", "[")) - (pieces[place].text in ("}", "]"))
        if depth == 0:
            return place
    raise ValueError("an object without an end")


def _told(value: Any, depth: int) -> str:
    """A value as a member so deep inside is written."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * (depth + 1))


def _inserted(text: str, pieces: Sequence[Piece], at: int, depth: int, name: str, value: Any) -> str:
    """The text with a member in front of the others of the object that begins at a piece."""
    space, told = "  " * (depth + 1), _told(value, depth)
    comma = "" if pieces[at + 1].text == "}" else ","
    before, rest = text[: pieces[at].end], text[pieces[at].end :]
    if rest.lstrip(" \t").startswith("}"):
        rest = f"\n{space[2:]}{rest.lstrip()}"
    return f"{before}\n{space}{json.dumps(name)}: {told}{comma}{rest}"
