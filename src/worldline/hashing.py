"""Canonical bytes and hashes: the only file that knows what is hashed.

Every preimage is a domain tag followed by fields; a field is `-` when absent, else its length in
decimal, a colon and its bytes (a netstring without the comma). There are no floats, no JSON and
no optional spellings, so a second implementation needs nothing but docs/format.md.

>>> node_id("learning", "tea", "green").hex()[:8]
'099ef8f4'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from blake3 import blake3

ALGORITHM = "blake3-256"
LANES = 1024
DIGEST_SIZE = LANES * 2
EMPTY_DIGEST = bytes(DIGEST_SIZE)
GENESIS = bytes(32)

_EVEN = int.from_bytes(b"\xff\xff\x00\x00" * (LANES // 2), "little")
_ONES = int.from_bytes(b"\x01\x00\x00\x00" * (LANES // 2), "little")
_SUMS_WITHOUT_CARRY = 60_000  # 16-bit values that fit into one 32-bit lane
_VECTORISE_FROM = 64


def field(value: bytes | None) -> bytes:
    """One field of a preimage."""
    return b"-" if value is None else b"%d:%b" % (len(value), value)


def preimage(tag: bytes, *fields: bytes | None) -> bytes:
    """The canonical bytes of a tagged record."""
    return b"worldline/1 " + tag + b"\n" + b"".join([field(f) for f in fields])


def tenant_number(name: str) -> int:
    """The number that a tenant's rows carry in any store: 63 bits of its name's hash, never 0."""
    return max(1, int.from_bytes(blake3(preimage(b"tenant", name.encode())).digest()[:8], "big") >> 1)


def _number(value: int | None) -> bytes | None:
    return None if value is None else b"%d" % value


def node_id(
    type_: str, name: str, content: str, dated: int | None = None, world: bytes | None = None
) -> bytes:
    """The id of a node: its payload, and the world below the root that it was put into."""
    kind, called, text = type_.encode(), name.encode(), content.encode()
    return blake3(
        b"worldline/1 node\n%d:%b%d:%b%d:%b%b%b"
        % (len(kind), kind, len(called), called, len(text), text, field(_number(dated)), field(world))
    ).digest()


def node_ids(
    payloads: Iterable[tuple[str, str, str, int | None, int | None]],
    known: Sequence[bytes],
    world: bytes | None,
) -> list[bytes]:
    """The ids of (type, name, content, dated, inside) that come after the known ones.

    `inside` is the place of an earlier one, which contains it, -1 for nothing, and None for `world`.
    """
    ids, worlds = list(known), {-1: None, None: world}
    ends = {at: f"-{'-' if within is None else '32:'}" for at, within in worlds.items()}
    for type_, name, content, dated, inside in payloads:
        if inside not in ends:
            worlds[inside], ends[inside] = ids[inside or 0], "-32:"
        if dated is None and name.isascii() and content.isascii() and type_.isascii():
            fields = f"{len(type_)}:{type_}{len(name)}:{name}{len(content)}:{content}{ends[inside]}"
            ids.append(blake3(b"worldline/1 node\n" + fields.encode() + (worlds[inside] or b"")).digest())
        else:
            ids.append(node_id(type_, name, content, dated, worlds[inside]))
    return ids[len(known) :]


def event_id(sender: str, session: bytes | None, said_at: int, text: str, external_id: str | None) -> bytes:
    """The id of a verbatim event."""
    by, said = sender.encode(), text.encode()
    external = None if external_id is None else external_id.encode()
    return blake3(
        b"worldline/1 event\n%d:%b%b%b%d:%b%b"
        % (len(by), by, field(session), field(_number(said_at)), len(said), said, field(external))
    ).digest()


def fact_id(
    subject: bytes, predicate: str, object_: bytes | None, literal: str | None, world: bytes | None
) -> bytes:
    """The id of a fact: subject and object by lineage, or a literal in canonical text."""
    value = None if literal is None else literal.encode()
    return blake3(preimage(b"fact", subject, predicate.encode(), object_, value, world)).digest()


FactParts = tuple[bytes, str, bytes | None, str | None, bytes | None]
"""What the id of a fact is made of, as `fact_id` takes it."""


def named_ids(
    names: Iterable[str], facts: Iterable[tuple[str, str, str | None, str | None]], world: bytes | None
) -> tuple[dict[str, bytes], dict[FactParts, bytes]]:
    """The ids of entities by name, and of facts between them (subject, predicate, object, literal) by their parts."""
    ids = {name: node_id("Entity", name, "", None, None) for name in names}
    parts = [(ids[s], p, None if o is None else ids[o], literal, world) for s, p, o, literal in facts]
    return ids, {each: fact_id(*each) for each in parts}


_EDGE_TAG = b"worldline/1 edge\n32:"


@cache
def _edge_middle(type_: str) -> bytes:
    return field(type_.encode()) + b"32:"


def edge_id(src: bytes, type_: str, dst: bytes) -> bytes:
    """The id of an edge between two lineages (or versions), each by its 32 bytes."""
    return blake3(_EDGE_TAG + src + _edge_middle(type_) + dst).digest()


def edges_below(worlds: Iterable[bytes], members: Iterable[bytes]) -> list[bytes]:
    """The ids of the edges by which worlds contain members, each by its 32 bytes."""
    begins: dict[bytes, bytes] = {}
    found = []
    for world, member in zip(worlds, members, strict=True):
        if (begin := begins.get(world)) is None:
            begin = begins[world] = _EDGE_TAG + world + _edge_middle("contains")
        found.append(blake3(begin + member).digest())
    return found


def edges_between(
    ids: Mapping[int, bytes], src: Iterable[int], types: Sequence[str], dst: Iterable[int]
) -> list[bytes]:
    """The ids of edges between numbered memories."""
    middle = {type_: _edge_middle(type_) for type_ in set(types)}
    return [
        blake3(_EDGE_TAG + ids[a] + middle[type_] + ids[b]).digest()
        for a, type_, b in zip(src, types, dst, strict=True)
    ]


def edge_ids(edges: Iterable[tuple[bytes, str, bytes]]) -> list[bytes]:
    """The ids of edges."""
    return [edge_id(*ends) for ends in edges]


def record_id(tag: str, *fields: str) -> bytes:
    """The id of a small record (a scope set, an idempotency key, a proposal)."""
    return blake3(preimage(tag.encode(), *[f.encode() for f in fields])).digest()


_WORLD_TAG = b"worldline/1 world\n32:"
_EMPTY_TAIL = b"32:" + blake3(EMPTY_DIGEST).digest()


def world_hash(head: bytes, digest: bytes = EMPTY_DIGEST) -> bytes:
    """The hash of a world: the id of its newest version and the digest of all inside it."""
    tail = _EMPTY_TAIL if digest is EMPTY_DIGEST else b"32:" + blake3(digest).digest()
    return blake3(_WORLD_TAG + head + tail).digest()


def world_after(
    head: bytes, digest: bytes, added: Sequence[bytes], removed: Iterable[bytes], born: Iterable[bytes]
) -> tuple[bytes, bytes, list[bytes]]:
    """(hash, digest) of a world of which members came, went and were born, and the hashes of all that are new."""
    new = [*added, *(blake3(_WORLD_TAG + leaf + _EMPTY_TAIL).digest() for leaf in born)]
    after = digest_update(digest, new, removed)
    return world_hash(head, after), after, new


def chain(previous: bytes, tenant: str, known: int, kind: str, body: bytes, rows: bytes) -> bytes:
    """The hash of one log row: what came before, and every row that the changeset wrote."""
    return blake3(
        preimage(b"log", previous, tenant.encode(), _number(known), kind.encode(), body, rows)
    ).digest()


def expand(member: bytes) -> bytes:
    """A member's 1,024 lanes of 16 bits: blake3's extended output over its 32 bytes."""
    return blake3(member).digest(length=DIGEST_SIZE)


def _spread(expanded: bytes) -> tuple[int, int]:
    value = int.from_bytes(expanded, "little")
    return value & _EVEN, (value >> 16) & _EVEN


def _negate(lanes: int) -> int:
    """Two's complement of every 16-bit value in 32-bit lanes."""
    return ((lanes ^ _EVEN) + _ONES) & _EVEN


def digest_update(digest: bytes, added: Iterable[bytes] = (), removed: Iterable[bytes] = ()) -> bytes:
    """LtHash: add and subtract members lane by lane, modulo 2**16; order never matters."""
    plus = list(added)
    if len(plus) >= _VECTORISE_FROM:
        digest, plus = _add_many(digest, plus), []
    even, odd = _spread(digest)
    for count, member in enumerate(plus, 1):
        e, o = _spread(expand(member))
        even, odd = even + e, odd + o
        if count % _SUMS_WITHOUT_CARRY == 0:
            even, odd = even & _EVEN, odd & _EVEN
    even, odd = even & _EVEN, odd & _EVEN
    for member in removed:
        e, o = _spread(expand(member))
        even, odd = (even + _negate(e)) & _EVEN, (odd + _negate(o)) & _EVEN
    return (even | odd << 16).to_bytes(DIGEST_SIZE, "little")


def _add_many(digest: bytes, members: list[bytes]) -> bytes:
    """The same sum for a bulk load, by numpy."""
    import numpy as np

    total = np.frombuffer(digest, "<u2").copy()
    for start in range(0, len(members), 512):
        block = b"".join([blake3(m).digest(length=DIGEST_SIZE) for m in members[start : start + 512]])
        total += np.frombuffer(block, "<u2").reshape(-1, LANES).sum(axis=0, dtype="<u2")
    return total.tobytes()
