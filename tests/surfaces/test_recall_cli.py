"""The verbs that answer questions, from the shell."""

import json

import pytest
from click.testing import CliRunner

from worldline import Config, Memory
from worldline.surfaces.budget import known
from worldline.surfaces.cli import main
from worldline.surfaces.rest import Answered
from worldline.text import estimate_tokens


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
    assert set(Answered.__struct_fields__) <= set(found)
    assert (found["found"], found["returned"]) == (1, 1)
    assert found["confidence"] == round(found["sure"], 2)


def test_a_budget_that_is_too_small_is_told(shell):
    """A few tokens show nothing, and that is no sign that nothing is remembered."""
    for budget in ("1", "9"):
        output = shell("recall", "What does the flat cost?", "--max-tokens", budget)
        assert "too small" in output
        assert "nothing remembered" not in output
    assert "nothing remembered" in shell("recall", "flat", "--max-tokens", "9", "--user", "nobody")
    assert "900 euros" in shell("recall", "What does the flat cost?", "--max-tokens", "100")


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


def test_a_corrected_fact_says_what_took_its_place(shell):
    """Under its old id: that it was corrected, why, and which fact replaced it; only until somebody knew."""
    (fact,) = [
        one
        for one in json.loads(shell("list", "--type", "fact", "--json"))["items"]
        if "Porto" in one["content"]
    ]
    before = json.loads(shell("changes", "--json"))[-1]["known_at"]
    done = json.loads(shell("correct", fact["id"], "Braga", "--reason", "misheard", "--json"))

    for verb, code in (("why", 0), ("history", 0), ("get", 1)):
        told = shell(verb, fact["id"][:12], code=code)
        assert "corrected at" in told
        assert "misheard" in told
        assert done["id"][:12] in told
    assert json.loads(shell("history", fact["id"], "--json"))[-1]["closed_by"] == done["id"]
    for verb in ("why", "history", "get"):
        assert "corrected" not in shell(verb, fact["id"][:12], "--known-at", before)
    shell("correct", done["id"], "--reason", "never moved")
    assert "withdrawn at" in shell("get", done["id"], code=1)


def test_an_amended_fact_says_what_came_after_it(shell):
    """Under its old id: until when it held, and which fact holds since then; only until somebody knew."""
    (fact,) = [
        n for n in json.loads(shell("list", "--type", "fact", "--json"))["items"] if "Porto" in n["content"]
    ]
    before = json.loads(shell("changes", "--json"))[-1]["known_at"]
    done = json.loads(shell("amend", fact["id"], "Braga", "--json"))
    shell("amend", done["id"], "Faro")

    told = shell("history", fact["id"])
    assert "superseded" in told
    for output in (told, shell("get", fact["id"], code=1)):
        assert f"Braga ({done['id'][:12]})" in output
    assert json.loads(shell("history", fact["id"], "--json"))[-1]["closed_by"] == done["id"]
    assert "Braga" not in shell("history", fact["id"], "--known-at", before)
    shell("retire", fact["id"])


def test_a_context_block_is_of_somebody_who_is_known(shell):
    """A name that nobody has is told, with the near ones; a user without words is one."""
    assert "Ines" in shell("context", "Iness", code=1)
    assert "Porto" in shell("context", "Ines")
    assert "Porto" in shell("context", "user")
    shell("note", "context", "tea", "green", "--user", "bo")
    assert "green" in shell("context", "bo")


def test_a_vault_says_what_it_leaves_out(shell, tmp_path):
    """It holds notes only: how many turns and facts are not in it."""
    told = shell("export", str(tmp_path / "vault"), "--format", "markdown")
    assert "0 memories" in told
    assert "left out 2 turns and 2 facts" in told
    assert "left out" not in shell("export", str(tmp_path / "all.md"), "--format", "markdown")


def test_explain(shell):
    """Why a memory is where it is."""
    flat = json.loads(shell("recall", "flat", "--json"))["hits"][0]["node"]["id"]

    assert "not lost" in shell("explain", "What does the flat cost?", flat)
    assert json.loads(shell("explain", "x", flat, "--json"))["lost_by"] == "lane"


def test_vectors_are_looked_after(shell):
    """Without an embedder there is nothing to embed."""
    assert json.loads(shell("flush", "--json")) == {"embedded": 0}
    assert "0 texts" in shell("reembed")


@pytest.mark.parametrize("code", ["scorer = (", "1 / 0", "import nothing_of_this_name"])
def test_a_scorer_that_cannot_be_loaded_is_told(shell, tmp_path, monkeypatch, code):
    """A broken module of the user's own is one line with what is wrong in it, and no traceback."""
    (tmp_path / "own_scorer.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    output = shell("score", "own_scorer:scorer", code=1)

    assert "own_scorer" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("budget", ["100", "150", "300", "1000"])
@pytest.mark.parametrize("more", [(), ("--explain",)])
def test_a_budget_bounds_the_whole_document(shell, budget, more):
    """Of --json too, however long the memories are; what `--explain` adds has as much again."""
    for day in ("03", "04", "05"):
        words = f"The flat on floor {day} costs 900 euros. " + "It has a view over the harbour. \x7f" * 40
        shell("remember", words, "--speaker", "Ines", "--when", f"2026-03-{day}")
    asked = ("recall", "What does the flat cost?", "--max-tokens", budget, "--json", *more)
    output = shell(*asked)

    assert estimate_tokens(output) <= int(budget) * (2 if more else 1)
    assert json.loads(output)["returned"] == len(json.loads(output)["hits"])
    if budget == "1000":
        assert json.loads(output)["hits"]
    if not more:
        assert estimate_tokens(shell("context", "Ines", "--max-tokens", budget, "--json")) <= int(budget)
        assert json.loads(shell("context", "Ines", "--max-tokens", "300", "--json"))["sections"]


def test_a_document_that_cannot_be_so_small_is_refused(shell):
    """Rather than longer than asked for."""
    assert "too small" in shell("recall", "flat", "--max-tokens", "9", "--json", code=1)


def test_what_is_kept_back_is_listed_and_released(shell):
    """Only on request, with a mark; after `confirm` it is there as before."""
    lists = ("list", "--type", "fact")
    (fact,) = [n for n in json.loads(shell(*lists, "--json"))["items"] if "Porto" in n["content"]]
    shell("quarantine", fact["id"][:12], "--reason", "who said so?")

    assert "Porto" not in shell(*lists)
    assert "(quarantined: who said so?)" in shell(*lists, "--include-quarantined")
    asked = ("recall", "Where does Ines live?", "--json")
    shown = [json.loads(shell(*asked, *more))["text"] for more in ((), ("--include-quarantined",))]
    assert ["Ines lives in Porto" in text for text in shown] == [False, True]
    shell("confirm", fact["id"][:12])
    assert "Porto" in shell(*lists)


def test_what_was_always_so_has_no_first_day(tmp_path):
    """A fact that holds from the beginning of the calendar is told without a day, as an open end is."""
    with Memory.open(tmp_path / "m.db", Config(embedder="none")) as memory:
        rome = {"subject": "Ana", "relation": "lives in", "object": "Rome", "since": "0001-01-01"}
        memory.remember("Rome it is.", speaker="Ana", facts=[rome])
        (proof,) = known(memory, memory.recall("Where does Ana live?")).proof

    assert (proof.text, proof.since, proof.until) == ("Ana lives in Rome", None, None)
