"""The verbs that answer questions, from the shell."""

import json

import pytest
from click.testing import CliRunner

from worldline import Config, Memory
from worldline.surfaces.cli import main


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs a command line on a small store; the output."""
    path = tmp_path / "m.db"
    monkeypatch.setenv("WORLDLINE_EMBEDDER", "none")
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.remember("I moved to Porto.", speaker="Ines", session="s", said_at="2026-03-01")
        memory.remember("The flat costs 900 euros.", speaker="Ines", session="s", said_at="2026-03-02")

    def run(*args, code=0):
        done = CliRunner().invoke(main, [*args, "--db", str(path)])
        assert done.exit_code == code, done.output
        return done.output

    return run


@pytest.mark.parametrize("verb", ["recall", "search"])
def test_recall(shell, verb):
    """Evidence as text, or whole as JSON, under both names."""
    assert "Ines: I moved to Porto." in shell(verb, "Where did Ines move?")
    found = json.loads(shell(verb, "Where did Ines move?", "--limit", "1", "--json"))

    assert found["hits"][0]["node"]["content"] == "I moved to Porto."
    assert "key" not in found["hits"][0]["node"]


def test_recall_explained(shell):
    """`--explain` shows lanes and factors."""
    output = shell("recall", "Where did Ines move?", "--explain")

    assert "lane words" in output
    assert "[words 1]" in output


def test_timeline_and_density(shell):
    """Order and coverage of a topic."""
    lines = shell("timeline", "Ines Porto flat").splitlines()

    assert [line[:10] for line in lines] == ["2026-03-01", "2026-03-02"]
    assert "2026-03-02" not in shell("timeline", "Ines Porto flat", "--to", "2026-03-02")
    assert "memories" in shell("density", "Ines")
    assert json.loads(shell("density", "zeppelin", "--json"))["nodes"] == 0


def test_explain(shell):
    """Why a memory is where it is."""
    flat = json.loads(shell("recall", "flat", "--json"))["hits"][0]["node"]["id"]

    assert "not lost" in shell("explain", "What does the flat cost?", flat)
    assert json.loads(shell("explain", "x", flat, "--json"))["lost_by"] == "lane"


def test_vectors_are_looked_after(shell):
    """Without an embedder there is nothing to embed."""
    assert json.loads(shell("flush", "--json")) == {"embedded": 0}
    assert "0 texts" in shell("reembed")
