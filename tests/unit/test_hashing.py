"""The bytes that are hashed: fixed vectors for every kind of preimage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from blake3 import blake3

from worldline import hashing

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))


def _bytes(value):
    return None if value is None else bytes.fromhex(value)


COMPUTE = {
    "node": lambda v: hashing.node_id(v["type"], v["name"], v["content"], v["dated"], _bytes(v["world"])),
    "event": lambda v: hashing.event_id(
        v["sender"], _bytes(v["session"]), v["said_at"], v["text"], v["external_id"]
    ),
    "fact": lambda v: hashing.fact_id(
        _bytes(v["subject"]), v["predicate"], _bytes(v["object"]), v["literal"], _bytes(v["world"])
    ),
    "edge": lambda v: hashing.edge_id(_bytes(v["src"]), v["type"], _bytes(v["dst"])),
    "record": lambda v: hashing.record_id(v["tag"], *v["fields"]),
    "world": lambda v: hashing.world_hash(
        _bytes(v["head"]), hashing.digest_update(hashing.EMPTY_DIGEST, map(bytes.fromhex, v["members"]))
    ),
    "digest": lambda v: blake3(
        hashing.digest_update(
            hashing.EMPTY_DIGEST, map(bytes.fromhex, v["members"]), map(bytes.fromhex, v["removed"])
        )
    ).digest(),
    "log": lambda v: hashing.chain(
        _bytes(v["previous"]), v["tenant"], v["known"], v["kind"], _bytes(v["body"]), _bytes(v["rows"])
    ),
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['kind']}: {v['about']}")
def test_vectors(vector):
    """Every preimage hashes to the value that docs/format.md quotes."""
    assert COMPUTE[vector["kind"]](vector["input"]).hex() == vector["blake3"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if "preimage" in v], ids=lambda v: v["about"])
def test_preimages(vector):
    """The documented bytes are the ones that are hashed."""
    assert blake3(bytes.fromhex(vector["preimage"])).hexdigest() == vector["blake3"]


def test_every_kind_has_a_vector():
    """A preimage without a vector could change unseen."""
    assert {v["kind"] for v in VECTORS} == set(COMPUTE)


def test_an_absent_field_is_not_an_empty_one():
    """`-` and `0:` differ, and so do their hashes."""
    assert hashing.field(None) == b"-"
    assert hashing.field(b"") == b"0:"
    assert hashing.event_id("", None, 0, "x", None) != hashing.event_id("", None, 0, "x", "")


def test_fields_cannot_run_into_each_other():
    """Moving a character from one field to the next gives another id."""
    assert hashing.node_id("learning", "ab", "c") != hashing.node_id("learning", "a", "bc")
    assert hashing.node_id("learning", "1:a", "") != hashing.node_id("learning", "", "1:a")


def test_an_empty_world_hashes_like_a_leaf():
    """The empty digest has one hash, given or defaulted."""
    head = bytes(range(32))
    assert hashing.world_hash(head) == hashing.world_hash(head, bytes(hashing.DIGEST_SIZE))
