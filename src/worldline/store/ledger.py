"""The changeset log, and the hashes of the worlds that a changeset touched.

The log is a hash chain over every row that a changeset put or closed. Content hashes leave intervals, confidence and
provenance out; the log covers them. Each changeset lists the rows it wrote with a checksum each, so that damage is
named row by row, and chains a blake3 over all of them, so that nobody can repair a checksum without breaking the chain.

A world's digest is a set hash over the hashes of its children, its interior edges and its former
versions. A child that moves away stays in the old parent's digest as it was; in the new parent it
counts as it is. So one append costs a few additions per ancestor, whatever the siblings. What is stored is a digest of
some time ago, and before it the last few members that came and went (`NOTED`): a digest has two kilobytes, and most
changesets touch only the page that the notes lie in.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from zlib import crc32

import orjson
from blake3 import blake3
from msgspec import Struct, field

from worldline.hashing import DIGEST_SIZE, EMPTY_DIGEST, chain, digest_update, world_after, world_hash
from worldline.ports import Row
from worldline.store.schema import COLUMNS, COVERED, KEYED

if TYPE_CHECKING:
    from worldline.ports import Row, Tx

TABLES = tuple(COVERED)
_PICK = {t: itemgetter(*[COLUMNS[t].index(c) for c in COVERED[t]]) for t in TABLES}
_HEADER = struct.Struct("<BBQ")
_PUT, _CLOSED = 0, 1


def _hex(value: Any) -> str:
    return bytes(value).hex()


def row_bytes(values: Sequence[Any]) -> bytes:
    """The canonical bytes of the covered columns of a row: a JSON array, blobs in hex."""
    return orjson.dumps(values, default=_hex)


def close_bytes(table: str, row: int, known: int) -> bytes:
    """The canonical bytes of closing a row."""
    return b"%s %d %d" % (table.encode(), row, known)


class Entries:
    """The rows of a changeset under way."""

    def __init__(self) -> None:
        self._sections: list[bytes] = []
        self._content = blake3()

    @property
    def empty(self) -> bool:
        return not self._sections

    def put(self, table: str, rows: Sequence[Row]) -> None:
        """Rows just inserted."""
        if table in COVERED:
            pick = _PICK[table]
            covered = [row_bytes(pick(row)) for row in rows]
            self._note(table, _PUT, [row[0] for row in rows], covered)

    def closed(self, table: str, rows: Sequence[int], known: int) -> None:
        """Rows just closed on the known axis."""
        self._note(table, _CLOSED, rows, [close_bytes(table, row, known) for row in rows])

    def _note(self, table: str, mode: int, rows: Sequence[int], covered: Sequence[bytes]) -> None:
        self._content.update(b"\n".join(covered) + b"\n")
        self._sections.append(
            _HEADER.pack(TABLES.index(table), mode, len(rows))
            + array("q", rows).tobytes()
            + array("I", map(crc32, covered)).tobytes()
        )

    def seal(self) -> tuple[bytes, bytes]:
        """The body of the log row, and the hash over all covered bytes in order."""
        return b"".join(self._sections), self._content.digest()


def append(tx: Tx, kind: str, body: bytes, rows: bytes) -> bytes:
    """Writes the log row and returns the new head of the chain."""
    head = chain(tx.head, tx.name, tx.stamp, kind, body, rows)
    row = tx.tenant, tx.sequence, tx.stamp, kind, body, tx.head, head
    tx.store.put("log", [row], ("tenant", "sequence", "known", "kind", "body", "previous", "hash"))
    return head


def sections(body: bytes) -> Iterator[tuple[str, bool, list[int], list[int]]]:
    """(table, closed?, rows, checksums) of a log row's body; ValueError on a damaged one."""
    at = 0
    while at < len(body):
        table, mode, count = _HEADER.unpack_from(body, at)
        at += _HEADER.size
        end = at + 12 * count
        if table >= len(TABLES) or mode > 1 or end > len(body):
            raise ValueError("the body of the log row is damaged")
        rows, sums = array("q", body[at : at + 8 * count]), array("I", body[at + 8 * count : end])
        yield TABLES[table], mode == _CLOSED, rows.tolist(), sums.tolist()
        at = end


def key_column(table: str) -> str:
    """The column that numbers a table's rows."""
    return KEYED.get(table, "id")


NOTED = 12
"""So many members are noted before they are added up; with the other columns they fill a page's part of the row."""
_CAME, _WENT = b"+", b"-"
_NOTE = 33
_KNOWN: dict[bytes, bytes] = {}
"""World hash → its digest, which follows from it: so that the notes are not added up with every changeset."""
_MOST_KNOWN = 256


def current_digest(stored: bytes, hash_: bytes = b"") -> bytes:
    """The digest that a stored one and its notes amount to."""
    if (known := _KNOWN.get(hash_)) is not None:
        return known
    notes = _notes(stored)
    came, went = (_noted(notes, sign) for sign in (_CAME, _WENT))
    return digest_update(stored[-DIGEST_SIZE:], came, went) if notes else stored[-DIGEST_SIZE:]


def _notes(stored: bytes) -> list[bytes]:
    parts = [stored[at : at + _NOTE] for at in range(0, len(stored) - DIGEST_SIZE, _NOTE)]
    return [part for part in parts if part[:1] in (_CAME, _WENT)]


def _noted(notes: list[bytes], sign: bytes) -> list[bytes]:
    return [note[1:] for note in notes if note[:1] == sign]


def _keep(hash_: bytes, digest: bytes) -> None:
    _KNOWN[hash_] = digest
    while len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.pop(next(iter(_KNOWN)), None)


def _with_notes(stored: bytes, members: Members, digest: bytes) -> bytes:
    """What is stored after members came and went: one more note for each, or the digest itself."""
    notes = _notes(stored)
    for member in members.removed:  # of what came and went meanwhile nothing is noted
        notes.remove(_CAME + member) if _CAME + member in notes else notes.append(_WENT + member)
    notes += [_CAME + member for member in members.added]
    if len(notes) > NOTED:
        notes, stored = [], digest
    return b"".join(notes).ljust(NOTED * _NOTE, b"\0") + stored[-DIGEST_SIZE:]


class Members(Struct):
    """What a changeset adds to and takes from one world's digest."""

    added: list[bytes] = field(default_factory=list)
    removed: list[bytes] = field(default_factory=list)
    born: list[bytes] = field(default_factory=list)
    """The ids of those that are new, and have nothing inside."""


class Touched(Struct):
    """What a changeset did to worlds, gathered while it ran."""

    members: dict[int, Members] = field(default_factory=dict)
    appeared: dict[int, bytes] = field(default_factory=dict)
    heads: dict[int, int] = field(default_factory=dict)
    moved: dict[int, int] = field(default_factory=dict)
    """Lineages that changed their world in this changeset, with the world they came from."""

    def of(self, world: int) -> Members:
        found = self.members.get(world)
        if found is None:
            found = self.members[world] = Members()
        return found

    def new_version(self, line: int, key: int) -> None:
        self.heads[line] = key
        self.of(line)

    def add(self, world: int, member: bytes) -> None:
        self.of(world).added.append(member)

    def move(self, line: int, source: int, target: int) -> None:
        if source != target and line not in self.appeared:
            self.moved.setdefault(line, source)


def settle_worlds(tx: Tx) -> None:
    """New digests and hashes for every world touched and all above it."""
    touched = tx.worlds
    place = {line: tx.world_of(line) for line in touched.appeared if line != tx.root}
    settled_below = touched.members.keys() | set(place.values())
    for line, world in place.items():
        if line not in settled_below:
            touched.of(world).born.append(touched.appeared[line])
    for line, source in touched.moved.items():
        if tx.world_of(line) != source and line not in touched.members:
            touched.of(tx.world_of(line)).added.append(_stored(tx, line)[1])
    settled = []
    depths = {line: _depth(tx, line) for line in touched.members}
    while depths:
        line = max(depths, key=lambda at: (depths[at], at))
        del depths[line]
        settled.append(_settle_one(tx, line))
        if line != tx.root and (above := tx.world_of(line)) not in depths:
            depths[above] = _depth(tx, above)
    if settled:
        tx.store.put("worlds", settled, ("tenant", "line", "head", "hash", "digest"))


def _depth(tx: Tx, line: int) -> int:
    depth = 0
    while line != tx.root:
        line, depth = tx.world_of(line), depth + 1
    return depth


def _stored(tx: Tx, line: int) -> tuple[int, bytes, bytes]:
    """(head version, hash, digest with its notes) of a lineage before this changeset."""
    if line in tx.held_worlds:
        return tx.held_worlds[line]
    rows = tx.store.query(
        "SELECT head, hash, digest FROM worlds WHERE tenant = :t AND line = :line",
        {"t": tx.tenant, "line": line},
    )
    return rows[0] if rows else (line, world_hash(tx.id_of(line)), EMPTY_DIGEST)


def _keep_leaf_hash(tx: Tx, line: int, before: bytes) -> None:
    """The hash that a lineage had while it was a leaf, from the moment it was first believed."""
    since = tx.query("SELECT min(kf) FROM beliefs WHERE tenant = :t AND line = :line", line=line)[0][0]
    if since is not None and since < tx.stamp:
        tx.add("world_hashes", line, before, since)


def _settle_one(tx: Tx, line: int) -> Row:
    """A world's new row."""
    head, before, stored = _stored(tx, line)
    if stored is EMPTY_DIGEST and line not in tx.worlds.appeared:
        _keep_leaf_hash(tx, line, before)
    members = tx.worlds.members[line]
    new_head = tx.worlds.heads.get(line, head)
    if new_head != head:
        members.added.append(tx.id_of(head))
    after, digest, members.added = world_after(
        tx.id_of(new_head), current_digest(stored, before), members.added, members.removed, members.born
    )
    _keep(after, digest)
    tx.add("world_hashes", line, after, tx.stamp)
    row = tx.tenant, line, new_head, after, _with_notes(stored, members, digest)
    if line == tx.root:
        return row
    parent = tx.worlds.of(tx.world_of(line))
    parent.added.append(after)
    if line not in tx.worlds.appeared and not _came_from_elsewhere(tx, line):
        parent.removed.append(before)
    return row


def _came_from_elsewhere(tx: Tx, line: int) -> bool:
    source = tx.worlds.moved.get(line)
    return source is not None and source != tx.world_of(line)
