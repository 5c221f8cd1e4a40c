"""Texts that wait to be folded into the words index, and the postings they will have.

Two thousand of them may wait, and every question and every write looks at them. So a store keeps in mind what it has
seen of them, and each look reads only what has come since. What is kept is right as long as the last text
that was seen is still there and none has gone: they come in the order of their rows, are folded all at once, and
a row that went never comes back. A look inside a write transaction adds nothing: what it sees may be undone.
"""

from __future__ import annotations

import struct
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from worldline.store.schema import WORDS_PER_NODE

if TYPE_CHECKING:
    from worldline.ports import Texts, View

Text: TypeAlias = tuple[int, str, str, str]
"""A passage: its row, its owners, its words and its kinds."""
KIND, OWNER, APART, EVERY = "#", "@", "=", ""
"""What a term begins with that is no word of a text: a kind, an owner; and the list of all texts."""
FRESH = 2048
"""So many new texts wait at most. The more, the fewer pages are written for each: 15 with 192, 4 with 2,048."""
TENANTS = 32
"""So many tenants' texts are kept in mind."""
MOST_LENGTH = 65_535
WAITING = "SELECT row, owner, text, kinds FROM fresh_words WHERE tenant = :t"
_TOGETHER = 16
"""So many of those that a transaction has put are looked at as one."""
_HEAD = struct.Struct(">IHH")
_OFTEN = [bytes((min(often, 255),)) for often in range(256)]


def terms_of(text: Text) -> Counter[str]:
    """What a passage is found by, and how often it has it; its tenant's own token is not among them."""
    return Counter(_tokens(text))


def _tokens(text: Text) -> list[str]:
    _, owner, held, kinds = text
    found = held.split()
    if kinds:
        found += [KIND + kind for kind in kinds.split()]
    if " " in owner:
        found += [OWNER + token for token in owner.split()[1:]]
    return found


def length_of(text: Text) -> int:
    """How many tokens a text is counted with."""
    return sum(part.count(" ") + 1 for part in text[1:] if part)


def _head(text: Text) -> bytes:
    row = text[0]
    return _HEAD.pack(row // WORDS_PER_NODE, row % WORDS_PER_NODE, min(length_of(text), MOST_LENGTH))


def postings(texts: Texts) -> Iterator[tuple[str, bytes]]:
    """(term, posting) of passages; the list of all texts says how many terms each has."""
    for text in texts:
        head, terms = _head(text), terms_of(text)
        yield from ((term, head + _OFTEN[min(often, 255)]) for term, often in terms.items())
        yield EVERY, head + _OFTEN[min(len(terms), 255)]


@lru_cache(1024)
def _posted_together(texts: tuple[Text, ...]) -> Mapping[str, Sequence[bytes]]:
    """The postings of some passages, term by term; kept, because a transaction looks at its own again and again."""
    found: dict[str, list[bytes]] = {}
    for term, posting in postings(texts):
        if term != EVERY:
            found.setdefault(term, []).append(posting)
    return found


class Waiting:
    """The texts of one tenant that wait, as far as they were seen; a reader looks at the first so many."""

    def __init__(self, texts: Sequence[Text] = ()) -> None:
        self._guard = threading.Lock()
        self._texts: list[Text] = []
        self._heads: list[bytes] = []
        self._where: dict[str, list[int]] = {}
        """Term → which texts have it, each as often as it does."""
        self._extend(texts)

    def seen(self) -> tuple[int, Text | None]:
        """How many there are, and the last one."""
        with self._guard:
            return len(self._texts), self._texts[-1] if self._texts else None

    def follow(self, count: int, texts: Sequence[Text]) -> bool:
        """Adds the texts that follow the first so many; False where others were added meanwhile."""
        with self._guard:
            if len(self._texts) != count:
                return False
            self._extend(texts)
            return True

    def _extend(self, texts: Sequence[Text]) -> None:
        for text in texts:
            number = len(self._texts)
            self._heads.append(_head(text))
            for token in _tokens(text):
                self._where.setdefault(token, []).append(number)
            self._texts.append(text)

    def held(self, term: str, count: int) -> list[bytes]:
        """The postings of a term among the first so many texts."""
        where = self._where.get(term)
        if where is None:
            return []
        often = Counter(where if where[-1] < count else where[: bisect_left(where, count)])
        return [self._heads[number] + _OFTEN[min(times, 255)] for number, times in often.items()]


class SeenWaiting(Struct, frozen=True):
    """The texts that wait as one transaction sees them."""

    known: Waiting
    number: int
    own: Sequence[Text] = ()
    """Those that it alone may see."""

    def held(self, terms: Set[str]) -> dict[str, list[bytes]]:
        """The postings under each of these terms that any text has."""
        found = {term: held for term in terms if (held := self.known.held(term, self.number))}
        for start in range(0, len(self.own), _TOGETHER):
            posted = _posted_together(tuple(self.own[start : start + _TOGETHER]))
            for term in posted.keys() & terms:
                found.setdefault(term, []).extend(posted[term])
        return found


def look(
    view: View, before: tuple[Waiting, int, Text | None], total: int, rows: Sequence[Text]
) -> SeenWaiting:
    """All that wait: what was seen before, and the rows from the last of it on; all anew where those do not join."""
    known, count, last = before
    new = rows[1:] if count else rows
    if (count and (not rows or rows[0] != last)) or count + len(new) != total:
        known, count, new = Waiting(), 0, view.query(f"{WAITING} ORDER BY row")
    if view.store.is_writing or not known.follow(count, new):
        return SeenWaiting(known, count, new)
    held = view.store.waiting
    held[view.tenant] = known
    while len(held) > TENANTS:
        held.pop(next(iter(held)), None)
    return SeenWaiting(known, count + len(new))


def seen(view: View) -> tuple[Waiting, int, Text | None]:
    """What is in mind of a tenant's texts that wait: how many, and the last one."""
    known = view.store.waiting.get(view.tenant) or Waiting()
    return (known, *known.seen())
