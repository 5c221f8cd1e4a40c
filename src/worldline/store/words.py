"""The words index: which text holds which word, in chunks of postings, ranked by BM25.

A chunk is a row of `words`: one tenant, one term, at most `SEALED` postings in the order of their
texts. The last chunk of a term is open (number 0), a full one is sealed under the row number of its
last text, so that the chunk which holds a text is found without reading the others. New texts wait
in `fresh_words`, token by token, until enough of them are folded in together. Everything is counted
within one tenant. The formula is that of SQLite's FTS5; terms under `All` count only where all of it
matches. What this module does not decide: which words a text has, and who may see it.
"""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from zlib import crc32

import orjson
from msgspec import Struct

from worldline import Later
from worldline.errors import StoreError
from worldline.store.held import (
    APART,
    EVERY,
    FRESH,
    KIND,
    MOST_LENGTH,
    OWNER,
    WAITING,
    WaitingText,
    large,
    length_of,
    look_at_waiting,
    postings,
    seen_waiting,
    terms_of,
)
from worldline.store.schema import WORDS_PER_NODE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from worldline.ports import Row, Store, Texts, View

    Numbers: TypeAlias = npt.NDArray[np.int64]
    Floats: TypeAlias = npt.NDArray[np.float64]
else:
    np = Later("numpy")

K1, B = 1.2, 0.75
WEIGHTS = {KIND: 0.4, OWNER: 0.0}
SEALED = 104
"""Postings of a sealed chunk: as many as fit into a page, or into one beside that of the key."""
_POSTING = struct.Struct(">IHHB")
"""Node, passage, words of the passage, how often the term is in it; the order of bytes is that of texts."""
_FIELDS = [("node", ">u4"), ("passage", ">u2"), ("words", ">u2"), ("often", "u1")]
_HEAD = struct.Struct(">IHH")
_SIZE, _PLACE = _POSTING.size, 6
_MOST_ROW = 2**63
_EVERYTHING_AT_ONCE = 6_000
"""Up to so many postings are scored without asking which of them can matter."""
_FEW = 200
"""A list this many times longer than the texts wanted from it is not read whole."""
_SHORT = 2_000
"""Lists of at most so many postings come with the counts."""
_COMMON = 200
"""A word that more texts hold is common: how many they are need not be counted at every look."""
_ASKED = 400
"""Of more terms than this only the counts are wanted: nobody asks a question with so many."""
_MORE = 10
"""Of so many more nodes than are wanted it is asked at first whether they may be seen."""
_BATCH = 200
"""Lists that are looked at together where there is no end of them."""
_CLOSE = 1e-9
"""Scores as near as this are equal."""

Keep: TypeAlias = Callable[[Sequence[int]], Collection[int]]
"""Which of these nodes may be seen."""


class Either(Struct, frozen=True):
    """Texts that match any of these, scored by all that do."""

    parts: tuple[Match, ...]


class All(Struct, frozen=True):
    """Texts that match every one of these."""

    parts: tuple[Match, ...]


Match: TypeAlias = str | Either | All
"""A term, or terms together."""


def apart(tokens: str) -> str:
    """Words of a fact or a name, as terms that are no text's."""
    return " ".join(APART + token for token in tokens.split())


def any_of(tokens: Iterable[str], kinds: Iterable[str] = ()) -> Either:
    """Texts that hold any of these words or are of any of these kinds."""
    return Either((*dict.fromkeys(tokens), *dict.fromkeys(KIND + kind for kind in kinds)))


class Counts(NamedTuple):
    """What is counted in a tenant: texts, their words, and the texts that hold each term."""

    texts: int
    tokens: int
    found: Mapping[str, int]
    fresh: Mapping[str, Sequence[bytes]]
    """Postings of the texts that wait."""
    short: Mapping[str, Sequence[bytes]] = {}
    """Lists that came with the counts, chunk by chunk."""

    def worth(self, term: str) -> float:
        """A term's inverse frequency."""
        found = self.found.get(term, 0)
        worth = math.log((self.texts - found + 0.5) / (found + 0.5)) if found <= self.texts else 0.0
        return worth if worth > 0 else 1e-6

    def most(self, term: str) -> float:
        """A bound on what a term can add to a text's score: a text is no shorter than the word is often."""
        often, length = (WEIGHTS[KIND], 1) if term[:1] == KIND else (255.0, 255)
        norm = K1 * (1 - B + B * length * self.texts / max(self.tokens, 1))
        return self.worth(term) * (K1 + 1) * often / (often + norm)


# Reading ------------------------------------------------------------------------------------------

_COUNTED = (
    "WITH held AS (SELECT term, cold, sum(n) AS found FROM words WHERE tenant = :t"
    " AND term IN (SELECT value FROM json_each(:terms)) GROUP BY term, cold)"
    " SELECT 0 AS what, cold, texts AS one, tokens AS two, '' AS term, CAST(fresh AS TEXT) AS words, '' AS kinds,"
    " CAST(NULL AS BLOB) AS rows FROM words_total WHERE tenant = :t"
    " UNION ALL SELECT 1, cold, found, 0, term, '', '', CAST(NULL AS BLOB) FROM held"
    " UNION ALL SELECT 2, 0, row, 0, owner, text, kinds, CAST(NULL AS BLOB) FROM fresh_words WHERE tenant = :t"
    " AND row >= :after UNION ALL SELECT 3, w.cold, w.chunk, 0, w.term, '', '', w.rows FROM held h CROSS JOIN words w"
    " ON w.tenant = :t AND w.term = h.term AND w.cold = h.cold WHERE h.found <= :short"
    f" OR (h.found <= :most AND substr(h.term, 1, 1) = '{OWNER}') ORDER BY 1, 3"
)
"""Totals, how many texts hold each term, the texts that wait from a row on, and the lists that are short."""
_LISTS = (
    "SELECT term, cold, chunk, rows FROM words WHERE tenant = :t"
    " AND term IN (SELECT value FROM json_each(:terms)) AND cold <= :cold ORDER BY term, cold, chunk"
)
_AROUND = (
    "SELECT w.term, w.cold, w.chunk, w.rows FROM (SELECT DISTINCT j.value AS term, coalesce((SELECT min(x.chunk)"
    " FROM words x WHERE x.tenant = :t AND x.term = j.value AND x.cold = :cold AND x.chunk >= r.value), 0) AS chunk"
    " FROM json_each(:terms) j CROSS JOIN json_each(:among) r) c CROSS JOIN words w ON w.tenant = :t"
    " AND w.term = c.term AND w.cold = :cold AND w.chunk = c.chunk ORDER BY w.term, w.chunk"
)


def owner_token(kind: str, value: str) -> str:
    """The token by which the index leaves out other scopes early."""
    return f"{kind[0]}{kind[1]}{crc32(value.encode()):08x}"


def counts(view: View, tokens: Collection[str], short: int | None = None) -> dict[str, int]:
    """In how many texts words or kinds occur, archived ones too; those in none are left out.

    What is searched for next comes with it: the lists of words that at most so many texts hold.
    """
    wanted = {form: token for token in tokens for form in _forms(token)}
    if view.is_snapshot and len(wanted) <= _ASKED:
        owned = [OWNER + owner_token(kind, value) for kind, value in view.owned.items()]
        terms = frozenset([*wanted, *owned])
        most = _SHORT if short is None else short
        view.looked = (terms, _look(view, terms, most)[0], most)
    found = _count(view, wanted, (0, 1)).found
    counted: dict[str, int] = {}
    for form, count in found.items():
        if count:
            counted[wanted[form]] = max(count, counted.get(wanted[form], 0))
    return counted


def _forms(token: str) -> tuple[str, ...]:
    """The terms of a word, and of the kind that is written so: every kind begins with a nought."""
    return (token, KIND + token) if token[:1] == "0" else (token,)


def spread(view: View, tokens: Collection[str], texts: int) -> dict[str, int]:
    """The same; of words that very many texts hold, an earlier count will do until there are a twentieth more."""
    size, known = view.store.spread.get(view.tenant, (0, {}))
    if not size <= texts <= size * 1.05:
        size, known = texts, {}
    counted = counts(view, [token for token in tokens if token not in known])
    known |= {token: count for token, count in counted.items() if count > _COMMON}
    view.store.spread[view.tenant] = size, known
    return counted | known


def _count(view: View, terms: Iterable[str], cold: Sequence[int], short: int = 0) -> Counts:
    """One look at all that is counted, and at the lists of at most so many postings."""
    wanted = list(dict.fromkeys(terms))
    texts = tokens = 0
    found = dict.fromkeys(wanted, 0)
    fresh: dict[str, list[bytes]] = {}
    chunks: list[Row] = []
    long: set[str] = set()
    looked, most = _look(view, wanted, short)
    for what, where, one, two, *_, waits in looked.get(None, ()):
        if what == 2 and 0 in cold:
            fresh = waits.held(found.keys())
        elif what == 0 and where in cold:
            texts, tokens = texts + int(one), tokens + int(two)
    for what, where, one, _, term, _, _, blob in (row for each in wanted for row in looked.get(each, ())):
        if where in cold and what == 1:
            found[term] += int(one)
            if not short or one > (_SHORT if term[:1] == OWNER else most):
                long.add(term)
        elif where in cold:
            chunks.append((term, where, one, blob))
    gathered: dict[str, list[bytes]] = {term: [] for term in wanted if term not in long}
    _gather(gathered, [chunk for chunk in chunks if chunk[0] not in long])
    for term, held in fresh.items():
        found[term] += len(held)
    return Counts(texts, tokens, found, fresh, gathered)


def _look(view: View, terms: Collection[str], short: int) -> tuple[Mapping[str | None, list[Row]], int]:
    """What `_COUNTED` tells of each of these terms, and (None) of all texts; an earlier look will do.

    With it comes how many postings the lists have at most that were brought; those of owners have `_SHORT`.
    """
    held = view.looked
    if held is not None and held[0].issuperset(terms):
        return held[1], held[2]
    known = {
        term: view.store.shares[view.tenant, term]
        for term in terms
        if (view.tenant, term) in view.store.shares
    }
    found: dict[str | None, list[Row]] = {}
    fresh: list[WaitingText] = []
    seen = seen_waiting(view)
    after = seen[2][0] if seen[2] else 0
    asked = _listed(set(terms) - known.keys())
    for row in view.query(_COUNTED, terms=asked, short=short, most=_SHORT if short else 0, after=after):
        if row[0] == 2:
            fresh.append((row[2], *row[4:7]))
        else:
            found.setdefault(row[4] if row[0] else None, []).append(row)
    total = sum(int(row[5]) for row in found.get(None, ()) if not row[1])
    waiting = look_at_waiting(view, seen, total, fresh)
    found.setdefault(None, []).append((2, 0, 0, 0, "", "", "", waiting.beside(view.gathered)))
    found[None].append((0, 0, len(view.gathered), sum(map(length_of, view.gathered)), "", "0", "", None))
    texts = sum(int(row[2]) for row in found.get(None, ()) if row[0] == 0)
    if any(texts > 2 * share.texts for share in known.values()):
        view.store.shares.clear()
        return _look(view, terms, short)
    owners = {term: rows for term, rows in found.items() if term and term[0] == OWNER}
    view.store.shares.update({(view.tenant, term): share for term, share in large(owners, texts, _SHORT)})
    return found | {term: share.now(texts) for term, share in known.items()}, short


def search(
    view: View, match: Match, depth: int | None, owners: Collection[str], keep: Keep, only: bool = False
) -> list[tuple[int, float]]:
    """(node, score) of the nodes that match and are kept, best first; by row where scores are equal.

    Texts that do not belong to all `owners` are left out before anything is ranked; where those own
    most of the texts, `keep` is relied on for it, and only there if that is all it tells (`only`).
    """
    terms = list(dict.fromkeys(_leaves(match)))
    owned = [OWNER + owner for owner in owners]
    held = _count(view, [*terms, *owned], (0, 1) if view.whole else (0,), _SHORT)
    if not terms or not held.texts:
        return []
    search = _Search(view, held, owned, keep)
    search.keep = keep if search.owned or not only else None
    return search.best(match, depth)


def first(view: View, tokens: Collection[str], owners: Collection[str], most: int) -> dict[str, list[int]]:
    """The first nodes that hold each of these words and belong to these owners, at most so many."""
    owned = [OWNER + owner for owner in owners]
    search = _Search(view, _count(view, [*tokens, *owned], (0, 1)), owned, None, whole=True)
    found: dict[str, list[int]] = {}
    terms = list(dict.fromkeys(tokens))
    for start in range(0, len(terms), _BATCH):
        for term, rows in search.beginnings(terms[start : start + _BATCH]).items():
            found[term] = list(dict.fromkeys((rows // WORDS_PER_NODE).tolist()))[:most]
    return found


def _leaves(match: Match) -> Iterator[str]:
    if isinstance(match, str):
        yield match
    else:
        for part in match.parts:
            yield from _leaves(part)


class _Search:
    """One search: what is counted, whose texts are looked at, and who may be seen."""

    def __init__(
        self, view: View, held: Counts, owned: Sequence[str], keep: Keep | None, *, whole: bool = False
    ) -> None:
        self.view, self.held, self.keep = view, held, keep
        self.cold = int(view.whole or whole)
        self.mean = held.tokens / max(held.texts, 1)
        self.seen: dict[int, bool] = {}
        self.allowed: Numbers | None = None
        self.owned = owned
        """Owners of so much that it is cheaper to ask of each find whether it is theirs."""
        if owned and 2 * min(held.found[term] for term in owned) < held.texts:
            self.allowed, self.owned = self._theirs(owned), ()

    def _theirs(self, owned: Sequence[str]) -> Numbers:
        held = [rows for rows, _ in self.lists(owned).values()]
        return reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), held)

    def best(self, match: Match, depth: int | None) -> list[tuple[int, float]]:
        terms = list(dict.fromkeys(_leaves(match)))
        if isinstance(match, Either) and all(isinstance(part, str) for part in match.parts):
            terms.sort(key=lambda term: (self.held.found[term], term))
            if depth and len(terms) > 1 and sum(self.held.found[t] for t in terms) > _EVERYTHING_AT_ONCE:
                return self._rare_first(terms, depth)
            match = Either(tuple(terms))
        return self._kept(*_evaluate(match, self.lists(terms)), depth)

    def _rare_first(self, terms: Sequence[str], depth: int) -> list[tuple[int, float]]:
        """The same as if all had been scored: what common terms alone can reach is below the depth."""
        rest = [0.0]
        for term in reversed(terms):
            rest.append(rest[-1] + self.held.most(term))
        rest.reverse()  # rest[n]: what the terms from n on can add
        read = self._some(terms, depth)
        lists: dict[str, tuple[Numbers, Floats]] = {}
        while True:
            lists |= self.lists([term for term in terms[:read] if term not in lists])
            rows, scores = _evaluate(Either(tuple(terms[:read])), lists)
            top = self._kept(rows, scores, depth)
            least = top[-1][1] - _CLOSE if len(top) == depth else -1.0
            enough = next(n for n in range(len(terms) + 1) if n == len(terms) or rest[n] < least)
            if enough <= read:
                break
            read = enough
        if read == len(terms):
            return top
        likely = np.flatnonzero(scores + rest[read] >= least)
        rows, scores = rows[likely], scores[likely]
        for held, added in self.lists(terms[read:], rows).values():
            scores[np.searchsorted(rows, held)] += added
        return self._kept(rows, scores, depth)

    def _some(self, terms: Sequence[str], depth: int) -> int:
        """How many of the rarest to begin with."""
        room = max(_EVERYTHING_AT_ONCE, 4 * depth)
        for number, term in enumerate(terms):
            room -= self.held.found[term]
            if room < 0:
                return max(number, 1)
        return len(terms)

    def lists(self, terms: Sequence[str], among: Numbers | None = None) -> dict[str, tuple[Numbers, Floats]]:
        """(rows, what the term adds to each) in the order of rows; of those among `among` alone, if given."""
        among = self.allowed if among is None else among
        blobs: dict[str, list[bytes]] = defaultdict(list)
        blobs.update((term, list(self.held.short[term])) for term in terms if term in self.held.short)
        long = [term for term in terms if term not in self.held.short]
        few = [] if among is None else [t for t in long if self.held.found[t] > _FEW * len(among)]
        whole = [term for term in long if term not in few]
        if whole:
            _gather(blobs, self.view.query(_LISTS, terms=_listed(whole), cold=self.cold))
        if few and among is not None and len(among):
            for cold in range(self.cold + 1):
                rows = among.tolist()
                _gather(blobs, self.view.query(_AROUND, terms=_listed(few), among=_listed(rows), cold=cold))
        for term in terms:
            blobs[term] += self.held.fresh.get(term, ())
        return {term: self._scored(term, b"".join(blobs[term]), among) for term in terms}

    def beginnings(self, terms: Sequence[str]) -> dict[str, Numbers]:
        """The rows of the first texts with each term; where only some owners' count, of all of theirs."""
        if self.allowed is not None:
            return {term: rows for term, (rows, _) in self.lists(terms).items()}
        blobs: dict[str, list[bytes]] = defaultdict(list)
        for cold in (0, 1):
            _gather(blobs, self.view.query(_AROUND, terms=_listed(terms), among="[1]", cold=cold))
        for term in terms:
            blobs[term] += self.held.fresh.get(term, ())
        return {term: _sorted(_decoded(b"".join(blobs[term]))[1]) for term in terms}

    def _scored(self, term: str, blob: bytes, among: Numbers | None) -> tuple[Numbers, Floats]:
        """What a list adds to the texts in it, or to those of them that are asked for."""
        held, rows = _decoded(blob)
        if (rows[1:] < rows[:-1]).any():  # of both sides of the archive, or back from it while others wait
            order = np.argsort(rows, kind="stable")
            held, rows = held[order], rows[order]
        if among is not None:
            chosen = _within(rows, among)
            held, rows = held[chosen], rows[chosen]
        often = held["often"] * WEIGHTS.get(term[:1], 1.0)
        norm = K1 * (1 - B) + held["words"] * (K1 * B / max(self.mean, 1e-9))
        return rows, self.held.worth(term) * (often * (K1 + 1) / (often + norm))

    def _kept(self, rows: Numbers, scores: Floats, depth: int | None) -> list[tuple[int, float]]:
        """The best nodes of these rows that may be seen."""
        scores = np.round(scores, 9)
        reach = len(rows) if depth is None else 2 * depth + 50
        while True:
            if reach >= len(rows):
                near = np.arange(len(rows))
            else:
                least = np.partition(scores, len(scores) - reach)[len(scores) - reach]
                near = np.flatnonzero(scores >= least)
            near = near[np.lexsort((rows[near], -scores[near]))]
            found: dict[int, float] = {}
            nodes = (rows[near] // WORDS_PER_NODE).tolist()
            for node, score in zip(nodes, scores[near].tolist(), strict=True):
                found.setdefault(node, score)
            kept = self._first_seen(found, depth)
            if depth is None or len(kept) >= depth or reach >= len(rows):
                return kept[:depth]
            reach *= 4

    def _first_seen(self, found: Mapping[int, float], depth: int | None) -> list[tuple[int, float]]:
        """The first of these nodes that may be seen, at least so many: most may, so few more are asked about."""
        nodes, kept = list(found), list[tuple[int, float]]()
        step = len(nodes) if depth is None else depth + _MORE
        for start in range(0, len(nodes), max(step, 1)):
            some = nodes[start : start + step]
            self._look(some)
            kept += [(node, found[node]) for node in some if self.seen.get(node, True)]
            if depth is not None and len(kept) >= depth:
                break
        return kept

    def _look(self, nodes: Sequence[int]) -> None:
        unknown = [node for node in nodes if node not in self.seen]
        if self.keep is not None and unknown:
            seen = set(self.keep(unknown))
            self.seen.update((node, node in seen) for node in unknown)


def _gather(blobs: dict[str, list[bytes]], chunks: Iterable[Row]) -> None:
    """The chunks of each term in the order of their texts: the open one, which comes first, is the last."""
    opened: dict[tuple[str, int], bytes] = {}
    sealed: dict[tuple[str, int], list[bytes]] = {}
    for term, cold, chunk, rows in chunks:
        if chunk:
            sealed.setdefault((term, cold), []).append(rows)
        else:
            opened[term, cold] = rows
    for key in sorted({*sealed, *opened}):
        blobs[key[0]] += sealed.get(key, [])
        if key in opened:
            blobs[key[0]].append(opened[key])


def _evaluate(match: Match, lists: Mapping[str, tuple[Numbers, Floats]]) -> tuple[Numbers, Floats]:
    """(rows, scores) of what matches, in the order of rows."""
    if isinstance(match, str):
        return lists[match]
    parts = [_evaluate(part, lists) for part in match.parts]
    if len(parts) == 1:
        return parts[0]
    if isinstance(match, All):
        rows = parts[0][0]
        for other, _ in parts[1:]:
            rows = np.intersect1d(rows, other, assume_unique=True)
        total = np.zeros(len(rows))
        for held, added in parts:
            total = total + added[np.searchsorted(held, rows)]
        return rows, total
    rows, scores = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    if not len(rows):
        return rows, scores
    order = np.argsort(rows, kind="stable")
    rows, scores = rows[order], scores[order]
    starts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    return rows[starts], np.add.reduceat(scores, starts)


def _decoded(blob: bytes) -> tuple[Any, Numbers]:
    """(postings, their rows)."""
    if len(blob) % _SIZE:
        raise StoreError("the words index is damaged; `worldline verify` says where")
    held = np.frombuffer(blob, _FIELDS)
    return held, held["node"].astype(np.int64) * WORDS_PER_NODE + held["passage"]


def _sorted(rows: Numbers) -> Numbers:
    rows.sort()
    return rows


def _within(rows: Numbers, among: Numbers) -> Numbers:
    """Where the rows are that are among others, both in order."""
    if len(among) > len(rows):
        at = np.searchsorted(among, rows)
        at[at == len(among)] = 0
        return np.flatnonzero(among[at] == rows)
    at = np.searchsorted(rows, among)
    found = at < len(rows)
    found[found] = rows[at[found]] == among[found]
    return at[found]


def _listed(values: Iterable[Any]) -> str:
    return orjson.dumps(list(values)).decode()


def thin(view: View, most: int) -> list[str]:
    """Terms with several sealed chunks that have lost most of their postings."""
    return view.column(
        "SELECT term FROM words WHERE tenant = :t AND chunk > 0 AND n < 26 GROUP BY term HAVING count(*) > 1"
        " ORDER BY term LIMIT :most",
        most=most,
    )


def rows_of(query: Callable[..., list[Row]], tenant: int, *, cold: bool) -> set[int]:
    """The rows of all passages that the index has, hot or cold."""
    found = set[int](_decoded(_every(query, tenant, cold))[1].tolist())
    return found if cold else found | {row[0] for row in query(WAITING, {"t": tenant})}


def _every(query: Callable[..., list[Row]], tenant: int, cold: int) -> bytes:
    """The list of all texts, hot or cold."""
    blobs: dict[str, list[bytes]] = defaultdict(list)
    rows = query(_LISTS, {"t": tenant, "terms": _listed([EVERY]), "cold": int(cold)})
    _gather(blobs, [row for row in rows if row[1] == cold])
    return b"".join(blobs[EVERY])


_CHUNKS = (
    "SELECT term, cold, chunk, n, rows FROM words WHERE tenant = :t AND (term, cold, chunk) > (:term, :cold, :chunk)"
    " ORDER BY term, cold, chunk LIMIT :most"
)


def damaged(query: Callable[..., list[Row]], tenant: int) -> Iterator[tuple[str, str]]:
    """(where, what) is wrong with the chunks in themselves, and with the totals."""
    args = {"t": tenant}
    every = [_every(query, tenant, cold) for cold in (0, 1)]
    if any(len(blob) % _SIZE for blob in every):
        yield "words", "the list of all texts is cut"
        return
    texts = [_Tally(blob) for blob in every]
    at: tuple[str, int, int] = ("", -1, -1)
    while chunks := query(_CHUNKS, {"t": tenant, "term": at[0], "cold": at[1], "chunk": at[2], "most": 5000}):
        at = chunks[-1][:3]
        for term, cold, chunk, n, rows in chunks:
            if not _is_whole(chunk, n, rows):
                yield f"words {term!r}, chunk {chunk}", "it does not hold what it says"
            elif term != EVERY and not texts[cold].add(rows):
                yield f"words {term!r}, chunk {chunk}", "it names texts that are not in the list of all"
    fresh = query(WAITING, args)
    totals = {row[0]: tuple(map(int, row[1:])) for row in query(_TOTALS, args)}
    for cold, tally in enumerate(texts):
        for row in tally.rows[tally.differs()][:1].tolist():
            yield f"words of node row {row // WORDS_PER_NODE}", "they are not all in the index"
        waiting = [] if cold else fresh
        tokens = int(np.sum(tally.words)) + sum(map(length_of, waiting))
        if totals.get(cold, (0, 0, 0)) != (len(tally.rows) + len(waiting), tokens, len(waiting)):
            yield "words_total", "it is not the sum of what is stored"


class _Tally:
    """What is found of each text in the lists of terms, against what the list of all texts says."""

    def __init__(self, every: bytes) -> None:
        held, self.rows = _decoded(every)
        self.words, self.terms = held["words"].astype(np.int64), held["often"].astype(np.int64)
        self._terms, self._words = np.zeros_like(self.terms), np.zeros_like(self.words)

    def add(self, rows: bytes) -> bool:
        """Counts the postings of a term; False where one is of an unknown text or of another length."""
        held, places = _decoded(rows)
        chosen = _within(self.rows, places)
        if len(chosen) != len(places) or (self.words[chosen] != held["words"]).any():
            return False
        self._terms[chosen] += 1
        self._words[chosen] += held["often"]
        return True

    def differs(self) -> Any:
        """Which texts have other words than they should; their tenant's token is counted and not listed."""
        full = (self.terms < 255) & (self.words < 255)
        return (np.minimum(self._terms, 255) != self.terms) | (full & (self._words + 1 != self.words))


def _is_whole(chunk: int, n: int, rows: bytes) -> bool:
    if not rows or len(rows) != n * _SIZE or (chunk and _row_of(rows[-_SIZE:]) != chunk):
        return False
    places = _decoded(rows)[1]
    return bool((places[1:] > places[:-1]).all())


def waiting_texts(query: Callable[..., list[Row]], tenant: int) -> list[Row]:
    """The texts that wait, as they are stored."""
    return query(WAITING, {"t": tenant})


def held(query: Callable[..., list[Row]], tenant: int, *, cold: bool) -> dict[str, bytes]:
    """Every list of the index, hot or cold, its chunks joined."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    everything = (
        "SELECT term, chunk, n, rows FROM words WHERE tenant = :t AND cold = :cold ORDER BY term, chunk"
    )
    for term, chunk, count, rows in query(everything, {"t": tenant, "cold": int(cold)}):
        sound = count * _SIZE == len(rows) and (not chunk or _row_of(rows[-_SIZE:]) == chunk)
        found.setdefault(term, []).append((chunk or _MOST_ROW, bytes(rows) if sound else b""))
    return {term: b"".join(rows for _, rows in sorted(chunks)) for term, chunks in found.items()}


def lists_of(texts: Texts) -> dict[str, bytes]:
    """The lists that the index has of these texts and no others."""
    return _lists(sorted(texts))


def postings_of(text: tuple[int, str, str, str]) -> dict[str, bytes]:
    """What one text adds to the lists."""
    return dict(postings([text]))


def nodes_with(query: Callable[..., list[Row]], tenant: int, terms: Collection[str]) -> set[int]:
    """The nodes of all texts, archived ones too, that hold any of these terms."""
    args = {"t": tenant, "terms": _listed(terms), "cold": 1}
    chunks = [row[3] for row in query(_LISTS, args)] if terms else []
    rows = _decoded(b"".join(chunks))[1].tolist()
    rows += [row[0] for row in query(WAITING, {"t": tenant}) if not set(terms).isdisjoint(terms_of(row))]
    return {row // WORDS_PER_NODE for row in rows}


def archived(store: Store, tenant: int, rows: Sequence[int]) -> set[int]:
    """Which of these passages lie in cold storage."""
    args = {"t": tenant, "terms": _listed([EVERY]), "among": _listed(rows), "cold": 1}
    chunks = [chunk[3] for chunk in store.query(_AROUND, args)]
    return {row for row in rows if any(_seek(chunk, _place(row))[1] for chunk in chunks)}


# Postings -----------------------------------------------------------------------------------------


def _lists(texts: Texts) -> dict[str, bytes]:
    """The postings of many passages, in the order of their rows, term by term."""
    if not texts:
        return {}
    numbers, owners, held, kinds = zip(*texts, strict=True)
    words, said = _words_in(held)
    tags, tagged = _words_in(kinds)
    marks = {owner: [OWNER + token for token in owner.split()[1:]] for owner in set(owners)}
    words += map({tag: KIND + tag for tag in set(tags)}.__getitem__, tags)
    words += chain.from_iterable(map(marks.__getitem__, owners))
    rows = np.array(numbers, np.int64)
    counts = [said, tagged, [len(marks[owner]) for owner in owners]]
    at = np.repeat(np.tile(np.arange(len(rows), dtype=np.int32), 3), np.concatenate(counts))
    terms = {word: number for number, word in enumerate(dict.fromkeys(words))}
    wide: Any = np.int32 if len(terms) * len(rows) < 1 << 31 else np.int64
    codes: Numbers = np.fromiter(map(terms.__getitem__, words), wide, len(words))
    codes *= len(rows)
    codes += at
    codes.sort()
    starts = np.flatnonzero(np.concatenate((codes[:1] >= 0, codes[1:] != codes[:-1])))
    term, of = np.divmod(codes[starts], len(rows))
    often = np.diff(starts, append=len(codes))
    postings = np.empty(len(starts) + len(rows), _FIELDS)
    of, often = np.append(of, np.arange(len(rows))), np.append(often, np.bincount(of, minlength=len(rows)))
    postings["node"], postings["passage"] = rows[of] // WORDS_PER_NODE, rows[of] % WORDS_PER_NODE
    lengths = np.sum([*counts, [owner != "" for owner in owners]], axis=0)
    postings["words"], postings["often"] = np.minimum(lengths, MOST_LENGTH)[of], np.minimum(often, 255)
    blob = postings.tobytes()
    ends = (_SIZE * np.searchsorted(term, np.arange(len(terms) + 1))).tolist()
    return {name: blob[ends[n] : ends[n + 1]] for name, n in terms.items()} | {EVERY: blob[ends[-1] :]}


def _words_in(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """The words of all texts, and how many each has: one more than spaces, unless one was damaged."""
    words, counts = " ".join(texts).split(), [text.count(" ") + (text != "") for text in texts]
    return words, counts if sum(counts) == len(words) else [len(text.split()) for text in texts]


def _place(row: int) -> bytes:
    """What the posting of a text begins with."""
    return _HEAD.pack(row // WORDS_PER_NODE, row % WORDS_PER_NODE, 0)[:_PLACE]


def _row_of(posting: bytes) -> int:
    node, passage, _ = _HEAD.unpack_from(posting)
    return int(node) * WORDS_PER_NODE + int(passage)


def _seek(rows: bytes, place: bytes) -> tuple[int, bool]:
    """(where a text's posting is or would be, whether it is there)."""
    low, high = 0, len(rows) // _SIZE
    while low < high:
        middle = (low + high) // 2
        if rows[middle * _SIZE : middle * _SIZE + _PLACE] < place:
            low = middle + 1
        else:
            high = middle
    at = low * _SIZE
    return at, rows[at : at + _PLACE] == place


# Writing ------------------------------------------------------------------------------------------

_PUT = (
    "INSERT INTO words (tenant, term, cold, chunk, n, rows) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, term, cold, chunk) DO UPDATE SET n = excluded.n, rows = excluded.rows"
)
_DROP = "DELETE FROM words WHERE tenant = ? AND term = ? AND cold = ? AND chunk = ?"
_TOTAL = (
    "INSERT INTO words_total (tenant, cold, texts, tokens, fresh) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant, cold) DO UPDATE SET texts = words_total.texts + excluded.texts,"
    " tokens = words_total.tokens + excluded.tokens, fresh = words_total.fresh + excluded.fresh RETURNING fresh"
)
_OPEN = (
    "SELECT term, rows FROM words WHERE tenant = :t AND cold = :cold AND chunk = 0"
    " AND term IN (SELECT value FROM json_each(:terms))"
)
_TOTALS = "SELECT cold, texts, tokens, fresh FROM words_total WHERE tenant = :t"
_FRESH = ("tenant", "row", "owner", "text", "kinds")


class Statements(Protocol):
    """What writing needs of a store."""

    def query(self, sql: str, args: Any = ()) -> list[Row]: ...

    def execute(self, sql: str, args: Any = ()) -> list[Row]: ...

    def insert(self, sql: str, rows: Any) -> None: ...

    def put(self, table: str, rows: Any, columns: Any) -> None: ...


class Index:
    """The words of one tenant, inside a write transaction."""

    def __init__(self, store: Statements, tenant: int) -> None:
        self.store, self.tenant = store, tenant

    def add(self, texts: Texts) -> None:
        """New texts, of higher row numbers than any before: they wait, or are put in at once if they are many."""
        waiting = len(texts) if len(texts) < FRESH else 0
        fresh = self._total(0, len(texts), sum(map(length_of, texts)), waiting)
        if waiting:
            self.store.put("fresh_words", [(self.tenant, *text) for text in texts], _FRESH)
        if fresh and (not waiting or fresh >= FRESH):
            self.fold()
        if not waiting:
            self._append(texts)

    def fold(self) -> None:
        """Puts the texts that wait into the chunks of their terms."""
        texts = self._query(WAITING + " ORDER BY row")
        if texts:
            self.store.execute("DELETE FROM fresh_words WHERE tenant = ?", (self.tenant,))
            self._total(0, 0, 0, -len(texts))
            self._append(texts)

    def remove(self, texts: Texts, *, cold: bool = False) -> None:
        """Drops passages; one that is not there is left alone."""
        for text in texts:
            self._take(text, int(cold))

    def replace(self, old: Texts, new: Texts) -> None:
        """The same passages with other words or owners."""
        self.remove(old)
        for text in new:
            self._put(text[0], dict(postings([text])), 0)
            self._total(0, 1, length_of(text), 0)

    def move(self, texts: Texts, *, cold: bool) -> None:
        """Passages into cold storage, or back out of it; those that are not on the other side stay."""
        for text in texts:
            if taken := self._take(text, int(not cold)):
                self._put(text[0], taken, int(cold))
                self._total(int(cold), 1, _HEAD.unpack_from(taken[EVERY])[2], 0)

    def repack(self, terms: Collection[str]) -> None:
        """Joins the sealed chunks of these terms into as few as they need."""
        held: dict[tuple[str, int], list[Row]] = {}
        for chunk in self._query(_LISTS, terms=_listed(terms), cold=1):
            if chunk[2]:
                held.setdefault((chunk[0], chunk[1]), []).append(chunk)
        for (term, cold), chunks in held.items():
            rows, full = b"".join(chunk[3] for chunk in chunks), SEALED * _SIZE
            parts = [rows[start : start + full] for start in range(0, len(rows), full)]
            self.store.insert(_DROP, [(self.tenant, *chunk[:3]) for chunk in chunks])
            self.store.insert(_PUT, [self._chunk(term, cold, _row_of(p[-_SIZE:]), p) for p in parts])

    def _query(self, sql: str, **args: Any) -> list[Row]:
        return self.store.query(sql, {"t": self.tenant, **args})

    def _total(self, cold: int, texts: int, tokens: int, fresh: int) -> int:
        return int(self.store.query(_TOTAL, (self.tenant, cold, texts, tokens, fresh))[0][0])

    def _append(self, texts: Texts) -> None:
        last = self._last()
        for text in texts:
            if text[0] <= last:  # an older one came back from the archive while this one waited
                self._put(text[0], dict(postings([text])), 0)
        texts = [text for text in texts if text[0] > last]
        gathered = _lists(texts)
        opened: dict[str, bytes] = dict(self._query(_OPEN, terms=_listed(gathered), cold=0)) if last else {}
        chunks: list[Row] = []
        for term in sorted(gathered):
            chunks += self._sealed(term, 0, opened.get(term, b"") + gathered[term])
        self.store.insert(_PUT, chunks)

    def _last(self) -> int:
        """The highest row number in the chunks."""
        opened = self._query(_OPEN, terms=_listed([EVERY]), cold=0)
        if opened:
            return _row_of(opened[0][1][-_SIZE:])
        sealed = "SELECT max(chunk) FROM words WHERE tenant = :t AND term = :term AND cold = 0"
        return int(self._query(sealed, term=EVERY)[0][0] or 0)

    def _sealed(self, term: str, cold: int, rows: bytes) -> Iterator[Row]:
        """The chunks of what an open one has become; the last postings stay open."""
        full = SEALED * _SIZE
        while len(rows) > full:
            yield self._chunk(term, cold, _row_of(rows[full - _SIZE : full]), rows[:full])
            rows = rows[full:]
        yield self._chunk(term, cold, 0, rows)

    def _chunk(self, term: str, cold: int, number: int, rows: bytes) -> Row:
        return (self.tenant, term, cold, number, len(rows) // _SIZE, rows)

    def _take(self, text: tuple[int, str, str, str], cold: int) -> dict[str, bytes]:
        """Takes a passage out, wherever its postings are; what was taken."""
        row = text[0]
        waiting = [] if cold else self._query(WAITING + " AND row = :row", row=row)
        if waiting:
            self.store.execute("DELETE FROM fresh_words WHERE tenant = ? AND row = ?", (self.tenant, row))
            self._total(0, -1, -length_of(waiting[0]), -1)
            return dict(postings(waiting))
        place, taken = _place(row), dict[str, bytes]()
        self._take_from(self._around([EVERY], row, cold), place, taken)
        if not taken:
            return {}
        length, terms = _HEAD.unpack_from(taken[EVERY])[2], taken[EVERY][-1]
        self._take_from(self._around(terms_of(text), row, cold), place, taken)
        if min(len(taken) - 1, 255) != terms:  # its words are read otherwise today than when it was stored
            everything = "SELECT term, cold, chunk, rows FROM words WHERE tenant = :t AND cold = :cold"
            self._take_from(self._query(everything, cold=cold), place, taken)
        self._total(cold, -1, -int(length), 0)
        return taken

    def _around(self, terms: Iterable[str], row: int, cold: int) -> list[Row]:
        return self._query(_AROUND, terms=_listed(terms), among=_listed([row]), cold=cold)

    def _take_from(self, chunks: Iterable[Row], place: bytes, taken: dict[str, bytes]) -> None:
        dropped: list[Row] = []
        kept: list[Row] = []
        for term, cold, number, rows in chunks:
            at, found = _seek(rows, place)
            if not found:
                continue
            taken[term] = rows[at : at + _SIZE]
            left = rows[:at] + rows[at + _SIZE :]
            last = _row_of(left[-_SIZE:]) if left and number else 0
            if not left or last != number:
                dropped.append((self.tenant, term, cold, number))
            if left:
                kept.append(self._chunk(term, cold, last, left))
        self.store.insert(_DROP, dropped)
        self.store.insert(_PUT, kept)

    def _put(self, row: int, postings: Mapping[str, bytes], cold: int) -> None:
        """Postings of an older text, each into the chunk where it belongs."""
        place = _place(row)
        held = {term: (number, rows) for term, _, number, rows in self._around(postings, row, cold)}
        chunks: list[Row] = []
        for term, posting in postings.items():
            number, rows = held.get(term, (0, b""))
            at, _ = _seek(rows, place)
            rows = rows[:at] + posting + rows[at:]
            if not number:
                chunks += self._sealed(term, cold, rows)
            elif len(rows) <= SEALED * _SIZE:
                chunks.append(self._chunk(term, cold, number, rows))
            else:
                half = len(rows) // _SIZE // 2 * _SIZE
                chunks.append(self._chunk(term, cold, _row_of(rows[half - _SIZE : half]), rows[:half]))
                chunks.append(self._chunk(term, cold, number, rows[half:]))
        self.store.insert(_PUT, chunks)
