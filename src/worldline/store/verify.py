"""Proving a store: every hash recomputed, every logged row looked at again, every damage named.

It trusts nothing but the code: ids from payloads, edges from their ends, worlds from their members,
and the log from the rows that it vouches for.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import chain as chain_
from itertools import islice
from typing import Any
from zlib import crc32

import orjson
from blake3 import blake3

from worldline.clock import FOREVER, show
from worldline.errors import StoreError
from worldline.hashing import (
    EMPTY_DIGEST,
    GENESIS,
    chain,
    digest_update,
    edge_id,
    event_id,
    fact_id,
    node_id,
    world_hash,
)
from worldline.model import Damage, Verification
from worldline.ports import Store
from worldline.rules import slots
from worldline.rules.handlers import edge_made, node_made
from worldline.store import counting, erasing, ledger, nights, reindexing, words
from worldline.store.indexing import is_silent
from worldline.store.schema import CLOSABLE, COVERED, WORDS_PER_NODE
from worldline.store.view import label_value
from worldline.text import passages

Progress = Callable[[str, int], None]
BATCH = 5000
_TOGETHER = 200
"""Changesets whose rows are read together."""

_DRAWN = frozenset({"causes", "contradicts", "subtype_of", "relates_to", "precedes"})
"""Types of edges that a night puts as its own work only; of others it may shorten what somebody stated."""


class Checker:
    """One pass over one tenant."""

    def __init__(self, store: Store, tenant: tuple[Any, ...], progress: Progress | None) -> None:
        self.store, self.tenant, self.name, self.root = store, tenant[0], tenant[1], tenant[2]
        self.last_known, self.sequence, self.head = tenant[3], tenant[4], tenant[5]
        self.language = store.config.language
        self.damage: list[Damage] = []
        self.progress = progress or (lambda stage, done: None)
        self.ids: dict[int, bytes] = {}
        self.lines: dict[int, int] = {}
        self.inside: dict[int, list[bytes]] = defaultdict(list)
        """The edges inside each world, once each."""
        self.stays: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        """(since, until, world) of each lineage that was put into a world."""
        try:
            self.tombs = erasing.tombs(store.query, self.tenant)
        except (ValueError, TypeError):
            self.tombs = erasing.Tombs()
            self.found("what was erased", "its tombstones cannot be read")

    def found(self, where: str, what: str) -> None:
        self.damage.append(Damage(where, what))

    def rows(self, sql: str, **args: Any) -> list[tuple[Any, ...]]:
        return self.query(sql, args)

    def query(self, sql: str, args: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self.store.readable(sql, {**args, "t": self.tenant})

    def scan(self, table: str, columns: str, where: str = "") -> Iterator[tuple[Any, ...]]:
        """A whole table of this tenant, or some of it, in the order of its rows, in batches."""
        key, last = ledger.key_column(table), -1
        while True:
            batch = self.rows(
                f"SELECT {key}, {columns} FROM {table} WHERE tenant = :t AND {key} > :last {where} ORDER BY {key}"
                f" LIMIT {BATCH}",
                last=last,
            )
            if not batch:  # a short one may only lack rows that could not be read
                return
            yield from batch
            last = batch[-1][0]
            self.progress(table, last)


def verify(
    store: Store,
    tenant: tuple[Any, ...],
    progress: Progress | None = None,
    *,
    derived: bool = True,
    called: str = "",
) -> Verification:
    """Everything about one tenant, and what is wrong with it; without `derived`, only what the log vouches for.

    One that seems empty is looked for by what it is `called`.
    """
    check = Checker(store, tenant, progress)
    if called and not check.tenant and is_unlisted(store, called):
        check.found("tenants", f"{called!r} has changesets, and the store does not list it")
    nodes = _check_nodes(check)
    for key, (_, line) in check.tombs.nodes.items():  # what was erased still counts where it lay
        check.lines.setdefault(key, line)
    edges = _check_edges(check)
    worlds = _check_worlds(check)
    changesets = _check_log(check)
    if derived:
        _check_words(check)
        _check_labels(check)
    return Verification(nodes, edges, worlds, changesets, tuple(check.damage))


def is_unlisted(store: Store, name: str) -> bool:
    """Whether a tenant has changesets, listed or not."""
    return bool(store.query("SELECT 1 FROM log WHERE tenant = :t LIMIT 1", {"t": store.number(name)}))


def _check_nodes(check: Checker) -> int:
    check.ids = dict(check.rows("SELECT id, hash FROM nodes WHERE tenant = :t"))
    here = set(check.ids)
    check.ids = {key: hash_ for key, (hash_, _) in check.tombs.nodes.items()} | check.ids
    events = {row[0]: row for row in check.scan("events", "sender, session, said_at, external_id")}
    facts = {row[0]: row for row in check.scan("facts", "subject, predicate, object, literal, phrase")}
    told = {key: (row[1], None) for key, row in events.items()} | _fact_texts(check, facts)
    for row in check.scan("nodes", "hash, line, type, name, content, dated, world"):
        key, stored, line = row[:3]
        check.lines[key] = line
        if not _payload_is_whole(check, row, events.get(key), facts.get(key), told.get(key)):
            check.found(f"node {stored.hex()[:12]} (row {key})", "its payload does not hash to its id")
        if line not in check.ids:
            check.found(f"node {stored.hex()[:12]} (row {key})", "its lineage does not exist")
    for key in sorted(here - check.lines.keys()):
        check.found(f"node {check.ids[key].hex()[:12]} (row {key})", "its text cannot be read any more")
    return len(check.lines)


def _payload_is_whole(check: Checker, row: Any, event: Any, fact: Any, told: Any) -> bool:
    """Whether a node's columns hash to its id, and say what its event or fact says."""
    key, stored, _, type_, name, content, dated, world = row
    within = check.ids.get(world) if world else None
    try:
        if type_ == "Turn" and event:
            _, sender, session, said_at, external = event
            expected = event_id(sender, check.ids.get(session), said_at, content, external)
        elif type_ == "Fact" and fact:
            _, subject, predicate, object_, literal, _ = fact
            ends = check.ids.get(subject, b""), predicate, check.ids.get(object_)
            expected = fact_id(*ends, literal, within)
        elif key in check.tombs.payloads and check.tombs.payloads[key] == node_id(type_, name, content):
            return True
        else:
            expected, told = node_id(type_, name, content, dated, within), None
    except (AttributeError, TypeError, ValueError):  # a value of another kind than was ever stored
        return False
    if told is not None and (name != told[0] or dated is not None or told[1] not in (None, content)):
        return False
    return bool(expected == stored)


def _fact_texts(check: Checker, facts: dict[int, Any]) -> dict[int, tuple[str, str | None]]:
    """(name, content) that each Fact node must have: they follow from its ends, so no hash covers them."""
    ends = "SELECT subject FROM facts WHERE tenant = :t UNION SELECT object FROM facts WHERE tenant = :t"
    names = dict(check.rows(f"SELECT id, name FROM nodes WHERE tenant = :t AND id IN ({ends})"))
    return {
        key: (
            slots.label(phrase),
            slots.sentence(names.get(subject), phrase, _value(object_, literal, names)),
        )
        for key, subject, _, object_, literal, phrase in facts.values()
    }


def _value(object_: int, literal: str | None, names: dict[int, str]) -> Any:
    try:
        return orjson.loads(literal or "") if not object_ else names.get(object_)
    except orjson.JSONDecodeError:
        return None


def _check_edges(check: Checker) -> int:
    """Every id, and on the way what lies in which world: of what was erased too."""
    count, ids, inside, stays = 0, check.ids, check.inside, check.stays
    seen: set[tuple[int, str, int]] = set()
    erased = ((None, *edge) for edge in check.tombs.edges)
    held = check.scan("edges", "hash, src, type, dst, world, vt, kf, kt")
    for key, stored, src, type_, dst, world, valid_to, since, until in chain_(erased, held):
        if type_ == "contains":
            if valid_to == FOREVER and since < until:
                stays[dst].append((since, until, src))
        elif (src, type_, dst) not in seen:
            seen.add((src, type_, dst))
            inside[world].append(stored)
        if key is None:
            continue
        count += 1
        if src not in ids or dst not in ids:
            check.found(f"edge {stored.hex()[:12]} (row {key})", "one of its ends does not exist")
        elif edge_id(ids[src], type_, ids[dst]) != stored:
            check.found(f"edge {stored.hex()[:12]} (row {key})", "its ends and type do not hash to its id")
    return count


# Worlds ------------------------------------------------------------------------------------------


def _check_worlds(check: Checker) -> int:
    """Recomputes every digest from its members, leaves first."""
    stored = {
        r[0]: r[1:] for r in check.rows("SELECT line, head, hash, digest FROM worlds WHERE tenant = :t")
    }
    hashes: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for _, line, hash_, since in check.scan("world_hashes", "line, hash, kf"):
        hashes[line].append((since, hash_))
    members = _members(check, stored, hashes)
    for line, (head, hash_, digest) in stored.items():
        where = f"world {check.ids.get(line, b'').hex()[:12]} (lineage {line})"
        expected = digest_update(EMPTY_DIGEST, members.get(line, ()))
        follows = head in check.ids and world_hash(check.ids[head], expected) == hash_
        if not follows or expected != ledger.current_digest(digest):
            check.found(where, "its hash does not follow from what it contains")
        if not hashes[line] or max(hashes[line], key=lambda pair: pair[0])[1] != hash_:
            check.found(where, "its latest hash is not the last one kept")
    for line in members.keys() - stored.keys():
        check.found(f"world {check.ids.get(line, b'').hex()[:12]} (lineage {line})", "it has no hash")
    return len(stored)


def _members(
    check: Checker,
    stored: dict[int, Any],
    hashes: dict[int, list[tuple[int, bytes]]],
) -> dict[int, list[bytes]]:
    """What each world's digest must cover: children, interior edges, former versions."""

    def hash_of(line: int, before: int = FOREVER) -> bytes:
        kept = [h for since, h in hashes[line] if since < before] if line in hashes else None
        return kept[-1] if kept else world_hash(check.ids[line])

    members = check.inside
    for key, line in check.lines.items():  # a lineage is its own newest version unless a world says otherwise
        newest = stored[line][0] if line in stored else line
        if key != newest:
            members[line].append(check.ids[key])
    born = dict(check.rows("SELECT line, min(kf) FROM beliefs WHERE tenant = :t GROUP BY line"))
    for line, first in check.tombs.born.items():
        born[line] = min(first, born.get(line, FOREVER))
    for line in (key for key, line in check.lines.items() if key == line and key != check.root):
        for until, world in _places(check.root, check.stays.get(line, []), born.get(line, 0)):
            members[world].append(hash_of(line, until))
    return members


def _places(root: int, episodes: list[tuple[int, int, int]], born: int) -> Iterator[tuple[int, int]]:
    """(until, world) for every stay of a lineage in a world; what is in no world lies in the root."""
    at = born
    for since, until, world in sorted(episodes):
        if since > at:
            yield since, root
        yield until, world
        at = until
    if at != FOREVER:
        yield FOREVER, root


# The log -----------------------------------------------------------------------------------------


def _check_log(check: Checker) -> int:
    """The chain, then every row that it vouches for, then rows that nothing vouches for."""
    previous, last, count = GENESIS, -1, 0
    covered: dict[str, set[int]] = {table: set() for table in COVERED}
    ended: dict[str, dict[int, int]] = {table: {} for table in CLOSABLE}
    nights: dict[str, set[int]] = {"nodes": set(), "edges": set()}
    for (sequence, known, kind, body, before, hash_), stored in _changesets(check):
        count += 1
        where = f"changeset {sequence} ({show(known)})"
        if sequence != count or before != previous or known <= last:
            check.found(where, "the chain of changesets is broken here")
        content = _check_changeset(check, where, known, body, stored, covered, ended)
        if sequence in check.tombs.seals:
            was, rest = check.tombs.seals[sequence]
            if content != rest:
                check.found(where, "what is left of it is not what was left when a part was erased")
            content = was
        if chain(before, check.name, known, kind, body, content) != hash_:
            check.found(where, "the log row does not hash to what it says")
        if kind.startswith("sleep"):
            _note_rows(nights, body)
        previous, last = hash_, known
    if previous != check.head or count != check.sequence or (last != check.last_known and count):
        check.found("the end of the log", "the newest changesets are missing")
    _check_uncovered(check, covered, ended)
    _check_marks(check, nights)
    return count


def _changesets(check: Checker) -> Iterator[tuple[tuple[Any, ...], dict[str, dict[int, bytes]]]]:
    """The rows of the log in order, each with the rows that it and its neighbours put, as they are stored."""
    sql = "SELECT sequence, known, kind, body, previous, hash FROM log WHERE tenant = :t ORDER BY sequence"
    log = check.rows(sql)
    for start in range(0, len(log), _TOGETHER):
        some = log[start : start + _TOGETHER]
        put: dict[str, set[int]] = {table: set() for table in COVERED}
        for row in some:
            _note_rows(put, row[3])
        stored = {
            table: erasing.covered_rows(check.query, check.tenant, table, sorted(numbers))
            for table, numbers in put.items()
            if numbers
        }
        for row in some:
            yield row, stored
        check.progress("log", min(start + _TOGETHER, len(log)))


def _note_rows(rows: dict[str, set[int]], body: bytes) -> None:
    """The rows that a changeset put, of these tables; what is damaged is told elsewhere."""
    with suppress(ValueError):
        for table, closed, numbers, _ in ledger.sections(body):
            if table in rows and not closed:
                rows[table].update(numbers)


def _check_marks(check: Checker, nights: dict[str, set[int]]) -> None:
    """Whatever is marked as made by sleep has the shape of its work, and what a night made is marked."""
    marked = "AND (metadata IS NOT NULL OR made IS NOT NULL)"
    for key, type_, metadata, made in check.scan("nodes", "type, metadata, made", marked):
        shaped = metadata is not None and node_made(type_, _object(metadata)) is not None
        if metadata is None and key in check.tombs.payloads:  # it was forgotten, and its row stays
            continue
        if (made is not None and not shaped) or (shaped and made is None and key in nights["nodes"]):
            check.found(f"nodes row {key}", "its mark is not what the night that made it says")
    for key, type_, metadata, made in check.scan("edges", "type, metadata, made", marked):
        shaped = metadata is not None and edge_made(_object(metadata)) is not None
        by_night = key in nights["edges"] and type_ in _DRAWN
        if (made is not None and not shaped) or (shaped and made is None and by_night):
            check.found(f"edges row {key}", "its mark is not what the night that made it says")


def _check_changeset(
    check: Checker,
    where: str,
    known: int,
    body: bytes,
    stored: dict[str, dict[int, bytes]],
    covered: dict[str, set[int]],
    ended: dict[str, dict[int, int]],
) -> bytes:
    content = blake3()
    try:
        for table, closed, numbers, sums in ledger.sections(body):
            if closed:
                ended.get(table, {}).update(dict.fromkeys(numbers, known))
                rows = [ledger.close_bytes(table, number, known) for number in numbers]
            else:
                erased = check.tombs.rows.get(table, {})
                covered[table].update(n for n in numbers if n not in erased or erased[n] <= known)
                rows = _stored_rows(check, where, known, table, numbers, stored.get(table, {}))
            content.update(b"\n".join(rows) + b"\n")
            if list(map(crc32, rows)) == sums:
                continue
            for number, row, expected in zip(numbers, rows, sums, strict=True):
                if row and crc32(row) != expected:
                    check.found(f"{table} row {number}", f"it is not what {where} wrote")
    except ValueError as error:
        check.found(where, str(error))
    return content.digest()


def _stored_rows(
    check: Checker, where: str, known: int, table: str, numbers: list[int], stored: dict[int, bytes]
) -> list[bytes]:
    found = [row for number in numbers if (row := stored.get(number)) is not None]
    if len(found) == len(numbers) and table not in check.tombs.rows:
        return found
    found = []
    for number in numbers:
        gone = check.tombs.is_gone(table, number, known)
        if number not in stored and not gone:
            check.found(f"{table} row {number}", f"it is gone; {where} wrote it")
        found.append(b"" if gone else stored.get(number, b""))
    return found


def _check_uncovered(check: Checker, covered: dict[str, set[int]], ended: dict[str, dict[int, int]]) -> None:
    for table, known in covered.items():
        key = ledger.key_column(table)
        rows = check.rows(f"SELECT {key} FROM {table} WHERE tenant = :t ORDER BY {key}")
        check.progress(table, len(rows))
        stored = set(chain_.from_iterable(rows))
        odd = dict.fromkeys(stored - known, "no changeset wrote it")
        if table in CLOSABLE:
            over = "(kt <> :open OR kt IS NULL)"
            ends = dict(
                check.rows(f"SELECT {key}, kt FROM {table} WHERE tenant = :t AND {over}", open=FOREVER)
            )
            told = {row: until for row, until in ended[table].items() if row in stored}
            wrong = {row for row, _ in ends.items() ^ told.items()} - odd.keys()
            odd.update(dict.fromkeys(wrong, "it ends where no changeset ended it"))
        for (number,) in rows if odd else ():
            if number in odd:
                check.found(f"{table} row {number}", odd[number])


def _check_words(check: Checker) -> None:
    """What texts were made into is what they make today; what is derived from damaged rows is no news."""
    derived = None
    if not check.damage:
        derived = reindexing.Derived(check.query, check.tenant, check.language)
    if (derived is None or not _has_its_words(derived)) and not _check_lists(check):
        return
    if derived is not None and not check.damage:
        for table, key in islice(nights.unsound(check.query, check.tenant), 1):
            told = ", ".join(map(str, key[1:]))
            check.found(
                f"{table} row ({told})", "it is not what a night left there; worldline reindex drops it"
            )
        if not counting.is_sound(check.query, check.tenant):
            check.found("the counts", "they are not those of the rows; worldline reindex drops them")
        for fault in chain_(derived.wrong_words(), derived.others()):
            check.found(*fault)
    for name in check.store.missing_indexes():
        check.found(f"the index {name}", "it is missing; worldline reindex makes it")
    for problem in check.store.problems():
        check.found("the file", problem)


def _has_its_words(derived: reindexing.Derived) -> bool:
    """Whether the words index is made of the texts and nothing else; if not, a closer look tells what is wrong."""
    try:
        return not derived.wrong_words()
    except (StoreError, TypeError, ValueError, struct.error):  # values of other kinds than were ever stored
        return False


def _check_lists(check: Checker) -> bool:
    """Every text that should be found by its words has its index rows, and no row is left over; False if unreadable."""
    try:
        for where, what in words.damaged(check.store.query, check.tenant):
            check.found(where, what)
        hot, cold = (words.rows_of(check.store.query, check.tenant, cold=cold) for cold in (False, True))
    except (StoreError, UnicodeDecodeError) as error:
        check.found("words", str(error))
        return False
    indexed = hot | cold
    for row in sorted(hot & cold)[:1]:
        check.found(f"words of node row {row // WORDS_PER_NODE}", "they are both hot and archived")
    expected: set[int] = set()
    for key, type_, content, made in check.scan("nodes", "type, content, made"):
        if not is_silent(type_, made):
            base = key * WORDS_PER_NODE
            expected.update(range(base, base + max(1, len(passages(content)))))
    for row in sorted(expected - indexed)[:1]:
        check.found(f"words of node row {row // WORDS_PER_NODE}", "they are not in the index")
    for row in sorted(indexed - expected)[:1]:
        check.found(f"words row {row}", "it indexes nothing that is stored")
    return True


def _check_labels(check: Checker) -> None:
    """Every label of every node's metadata can be filtered by, and no other."""
    stored = set(check.rows("SELECT node, scope, label, value FROM labels WHERE tenant = :t"))
    given = check.rows("SELECT id, scope, metadata FROM nodes WHERE tenant = :t AND metadata IS NOT NULL")
    given += check.rows("SELECT node, scope, metadata FROM metadata WHERE tenant = :t")
    expected = {
        (node, scope, label, label_value(value))
        for node, scope, metadata in given
        for label, value in _object(metadata).items()
    }
    for node, _, label, _ in sorted(stored ^ expected)[:1]:
        check.found(f"labels of node row {node}", f"{label!r} is not what its metadata says")


def _object(metadata: str) -> dict[str, Any]:
    try:
        found = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        found = None
    return found if isinstance(found, dict) else {}
