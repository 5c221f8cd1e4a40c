"""The archive changes nothing but default recall: not on either axis, and it keeps the hot tables small."""

from __future__ import annotations

import pytest

from laws.years import DAYTIME, NIGHT, THINGS, Life
from worldline.rules.describe import DAY
from worldline.store import words
from worldline.testing import HashEmbedder

FAST = 0.024
"""A decay rate at which a year passes in a month."""


def test_as_of_answers_are_the_same_before_and_after(engine):
    """At random (valid, known) points get, list, recall and facts say the same with all of it archived."""
    points, said = (40, 3) if engine == "file" else (6, 1)
    life = Life.open(embedder=HashEmbedder(), decay_rate=FAST)
    list(life.live(60, said, DAYTIME))
    before, sizes = life.points(points), life.sizes()
    assert sizes["cold_texts"] == 0
    life.memory.consolidate(["decay", "compact"])
    assert 13 * said < life.sizes()["cold_texts"] < 50 * said
    assert life.points(points) == before
    life.clock.advance(200 * DAY)
    life.memory.consolidate(["decay", "compact"])
    assert life.sizes()["cold_texts"] > 50 * said
    assert life.points(points) == before
    assert life.memory.verify().ok


def test_hot_tables_stay_bounded():
    """Night by night the whole grows while what default recall searches does not."""
    life = Life.open(embedder=HashEmbedder(), decay_rate=FAST)
    seen = [life.sizes() for _ in life.live(140, 2, NIGHT)]
    for table in ("texts", "embeddings", "hot words"):
        early, late = (max(size[table] for size in part) for part in (seen[40:80], seen[100:]))
        assert late <= 1.2 * early, table
    assert seen[-1]["nodes"] > 1.5 * seen[79]["nodes"]
    assert "Porto" not in life.memory.recall("Where do I live?").hits[0].node.content
    assert any("peanuts" in fact.text for fact in life.memory.recall("What is the user allergic to?").facts)


@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
def test_there_and_back(embedder):
    """What is brought back is found in recall as it was before it went cold, and nothing is left behind."""
    life = Life.open(embedder=embedder, decay_rate=FAST)
    list(life.live(12, 4, DAYTIME))
    question = "Who repaired the lamp in the kitchen?"
    before = [
        (hit.node.id, round(hit.score, 6)) for hit in life.memory.recall(question, without=["signals"]).hits
    ]
    sizes = life.sizes()
    life.clock.advance(300 * DAY)
    life.memory.consolidate(["decay"])
    assert life.sizes()["cold_texts"] > 30
    marks = "SELECT n.hash FROM marks m JOIN nodes n ON n.id = m.line WHERE m.kt > 1 << 62 AND m.kind = 'archived'"
    for (id_,) in life.memory.handle.store.query(marks):
        life.memory.pin(id_.hex())
    assert life.sizes() == sizes
    after = [
        (hit.node.id, round(hit.score, 6)) for hit in life.memory.recall(question, without=["signals"]).hits
    ]
    assert after == before
    assert life.memory.verify().ok


def _chunks(life):
    return life.memory.handle.store.query("SELECT count(*) FROM words WHERE chunk > 0")[0][0]


def test_folding_changes_no_answer(monkeypatch, engine):
    """An index with fewer chunks says the same, hot and cold, now and then."""
    monkeypatch.setattr(words, "SEALED", 6)
    life = Life.open(embedder=HashEmbedder(), decay_rate=FAST)
    list(life.live(40, 3 if engine == "file" else 1, (*DAYTIME, "decay")))
    questions, points = [f"Who repaired the {thing}?" for thing in THINGS], 10 if engine == "file" else 4
    before = [life.memory.recall(question, explain=True).text for question in questions], life.points(points)
    scattered = _chunks(life)
    monkeypatch.undo()
    life.memory.consolidate(["compact"])
    assert 2 * _chunks(life) < scattered
    after = [life.memory.recall(question, explain=True).text for question in questions], life.points(points)
    assert after == before
    assert life.memory.verify().ok


def test_reembedding_leaves_the_archive_cold():
    """Vectors made anew lie where their words lie, and none is missing afterwards."""
    life = Life.open(embedder=HashEmbedder(), decay_rate=FAST)
    list(life.live(10, 4, DAYTIME))
    life.clock.advance(300 * DAY)
    life.memory.consolidate(["decay"])
    before = life.sizes()
    assert life.memory.flush() == 0
    life.memory.reembed()
    assert life.sizes() == before


def test_a_backup_and_an_export_keep_everything(tmp_path):
    """Copies of a memory with an archive are whole and prove themselves."""
    life = Life.open(str(tmp_path / "a.db"), decay_rate=FAST)
    list(life.live(10, 4, DAYTIME))
    life.clock.advance(300 * DAY)
    life.memory.consolidate(["decay"])
    life.memory.backup(tmp_path / "b.db")
    life.memory.export(tmp_path / "c.jsonl")
    copy, told = Life.open(str(tmp_path / "b.db")), Life.open(str(tmp_path / "d.db"))
    told.clock.set(life.clock())
    told.memory.import_(tmp_path / "c.jsonl")
    assert copy.sizes() == life.sizes()
    for each in (copy, told):
        assert each.memory.verify().ok
    assert [n.content for n in told.memory.list("Turn").items] == [
        n.content for n in life.memory.list("Turn").items
    ]
    for each in (life, copy, told):
        each.memory.close()
