"""The benchmarks of understanding, on small files of our own."""

from __future__ import annotations

import json
import random
from pathlib import Path

from click.testing import CliRunner

from worldline.bench.datasets import BenchMessage, BenchQuestion, Conversation
from worldline.bench.report import ReportRow
from worldline.bench.reword import reword, reworded
from worldline.bench.systems import Ranking
from worldline.bench.updates import knowledge_update
from worldline.surfaces.cli import main

FACTS = """
The capital of Freedonia is Marxville.
Ana Lopes is a citizen of Freedonia.
Acme Works was founded by Rui Costa.
Acme Works was founded by Ana Lopes.
The capital of Freedonia is Sylvan.
Ana Lopes is married to Rui Costa.
""".strip().splitlines()
QUESTIONS = [
    ("What is the capital of Freedonia?", ["Sylvan"]),
    ("What is the capital of the country that the founder of Acme Works is a citizen of?", ["Sylvan"]),
    ("Who founded Acme Works?", ["Rui Costa"]),
]


def run(tmp_path: Path, *args: str) -> dict:
    """Runs `worldline bench` and reads its report."""
    out = tmp_path / "out.json"
    result = CliRunner(env={"XDG_CACHE_HOME": str(tmp_path)}).invoke(
        main, ["bench", *args, "--json", str(out)]
    )
    assert result.exit_code == 0, result.output
    return json.loads(out.read_text())


def facts_file(tmp_path: Path) -> str:
    """A file in the shape of FactConsolidation."""
    context = "Here is a list of facts:\n" + "\n".join(f"{n}. {fact}" for n, fact in enumerate(FACTS))
    questions, answers = zip(*QUESTIONS, strict=True)
    part = {
        "context": context,
        "questions": questions,
        "answers": answers,
        "metadata": {"source": "own_mh_1k"},
    }
    path = tmp_path / "facts.json"
    path.write_text(json.dumps([part]))
    return str(path)


def test_factconsolidation(tmp_path: Path) -> None:
    """Scores by part, with the baselines, and apart for questions whose gold is not outdated."""
    report = run(tmp_path, "factconsolidation", facts_file(tmp_path), "--embedder", "none", "--abstain")

    ours = report["systems"]["worldline"]["by_category"]["own_mh_1k"]
    assert (round(ours["top1"], 2), ours["facts"]) == (0.67, 6)
    assert ours["consistent"] == {"questions": 2, "top1": 1.0, "top5": 1.0}
    assert ours["abstention_auc"] == 1.0
    assert ours["ms"] > 0
    assert ours["write_ms"] > 0
    assert set(report["systems"]) == {"worldline", "worldline recall", "fts5-top1", "fts5-latest"}
    latest = report["systems"]["fts5-latest"]["by_category"]["own_mh_1k"]
    assert latest["top1"] < ours["top1"]


def test_reworded_facts_say_the_same(tmp_path: Path) -> None:
    """Other forms of a sentence, a share of them, and the same answers."""
    rng = random.Random(1)
    assert reword("Acme Works was founded by Ana Lopes.", rng) == "Ana Lopes founded Acme Works."
    assert reword("Nothing of the kind", rng) is None
    assert reworded(FACTS, 0.0, 1) == (FACTS, 0.0)
    report = run(tmp_path, "factconsolidation", facts_file(tmp_path), "--embedder", "none", "--reword", "0.8")
    assert report["systems"]["worldline"]["by_category"]["own_mh_1k"]["top1"] >= 0.66


def test_resolver(tmp_path: Path) -> None:
    """Precision, recall and F1 of proposals over a CSV of pairs, with or without a heading."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        "left,right,same\nBob Smith,Robert Smith,1\nBob Smith,Robert Smith,true\nAcme Inc.,Acme Corporation,yes\n"
        "Paul Smith,Paula Smith,0\nLisbon,London,no\nAna,Zebra,1\n"
    )
    report = run(tmp_path, "resolver", str(path))

    assert (report["pairs"], report["precision"], report["recall"]) == (6, 1.0, 0.75)


def test_knowledge_update() -> None:
    """Counts whether the current turn leads, apart for questions about the past, and stale facts."""
    said = [BenchMessage(str(n), f"s{n}", "user", "user", "…", said_at=n) for n in (1, 2)]

    def row(
        ident: str, text: str, turns: tuple[str, ...], facts: tuple[tuple[str, ...], ...] = ()
    ) -> ReportRow:
        question = BenchQuestion(ident, text, "knowledge-update", ("1", "2"))
        return ReportRow("c", question, {}, {"worldline": Ranking(turns, 1.0, facts=facts)})

    rows = [
        row("a", "How many do I have?", ("2", "1")),
        row("b", "How many do I have now?", ("1", "2"), (("1",),)),
        row("c", "How many did I have previously?", ("1", "2")),
    ]
    found = knowledge_update(rows, [Conversation("c", tuple(said), ())])

    assert (found["questions"], found["asking_for_the_present"], found["stale_facts"]) == (3, 2, 1)
    assert found["current_above_stale_present"] == {"worldline": 0.5}
