"""The shell as a new user meets it: what was added is there, answers first, slips forgiven, plain words."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

import warm
from worldline import Memory
from worldline.rules.slots import told
from worldline.surfaces import care
from worldline.surfaces.cli import main

ROOT = Path(__file__).parents[2]
SAID = (
    ("I live in Rome and I am vegetarian.", "Ana", "2026-10-01"),
    ("Rosa got a job at Bosch in May 2026.", "Bo", "2026-10-02"),
    ("The deploy is late by 47 minutes.", "Bo", "2026-10-03"),
    ("My sister Rosa plays the cello.", "Ana", "2026-10-04"),
)


def run(db: Path, *args: str, stdin: str | None = None, code: int = 0) -> Result:
    """A command line in this process."""
    env = {"WORLDLINE_DB": str(db), "WORLDLINE_EMBEDDER": "none"}
    result = CliRunner(env=env).invoke(main, list(args), input=stdin)
    assert result.exit_code == code, result.output
    return result


def lines(db: Path, *args: str, **more: Any) -> list[str]:
    """What it prints, line by line."""
    return run(db, *args, **more).stdout.splitlines()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store that heard four messages through the shell."""
    path = tmp_path / "me.db"
    for text, speaker, day in SAID:
        run(path, "add", text, "--speaker", speaker, "--when", day)
    return path


def test_what_was_added_is_listed(db: Path) -> None:
    """`list` shows the words and notes, newest first; entities and facts come on request."""
    run(db, "note", "context", "Acme contract", "tier: silver", "--valid-from", "2026-09-01")
    shown = lines(db, "list")

    assert [text in line for (text, _, _), line in zip(reversed(SAID), shown, strict=False)] == [True] * 4
    assert "Acme contract" in shown[4]
    assert not any("Entity" in line for line in shown)
    assert re.search(r"also: \d+ facts \(--type fact\)", shown[-1])
    assert any("Ana lives in Rome" in line for line in lines(db, "list", "--type", "fact"))


def test_entities_with_names_come_first(db: Path) -> None:
    """On request, people and places stand before things like "47 minutes"."""
    run(db, "add", "x", "--fact", "deploy", "is late by", "47 minutes")
    names = [line.split("Entity")[1].strip() for line in lines(db, "list", "--type", "ENTITY")]

    assert {"Ana", "Rome"} <= set(names)
    first_thing = min(at for at, name in enumerate(names) if not name[0].isupper())
    assert all(not name[0].isupper() for name in names[first_thing:])


def test_recall_is_best_first_with_ids_and_few(db: Path) -> None:
    """A clear answer brings its proof and one to three hits; each begins with an id that `why` takes."""
    shown = lines(db, "recall", "Where does Ana live?")
    hits = [line for line in shown if re.match(r"[0-9a-f]{12}  2026-", line)]

    assert shown[0] == "Answer: Rome"
    assert shown[1].startswith("  because Ana lives in Rome")
    assert 1 <= len(hits) <= 3
    assert "I live in Rome" in hits[0]
    assert "these are the words themselves, from Ana" in run(db, "why", hits[0][:12]).stdout
    both = "Where does Ana live, and what does Rosa play?"
    assert len([x for x in lines(db, "recall", both, "--limit", "4") if x[:1] != " "]) >= 4


@pytest.mark.parametrize("question", ["?", "🍣", "%", "—"])
def test_a_question_without_a_word_is_no_error(db: Path, question: str) -> None:
    """Signs alone bring the reason why nothing is found."""
    assert lines(db, "recall", question) == [
        "Not sure that this is known: there is no word in the question to look for"
    ]
    run(db, "timeline", question)
    run(db, "density", question)


def test_a_timeline_of_something_unknown_is_empty(db: Path) -> None:
    """No unrelated turn is shown for a topic that nobody spoke of."""
    assert lines(db, "timeline", "zebra") == ["nothing about that"]
    assert "Bosch" in lines(db, "timeline", "Bosch")[0]


def test_slips_are_forgiven(db: Path) -> None:
    """A mistyped verb or type brings the nearest one; `help` works, with a verb and without."""
    assert "Did you mean 'list'?" in run(db, "lits", code=2).stderr
    assert "did you mean 'fact'?" in run(db, "list", "--type", "fakt").stdout
    assert "Read" in run(db, "help").stdout
    assert run(db, "help", "add").stdout == run(db, "add", "--help").stdout


def test_the_store_may_be_named_before_the_verb(db: Path, tmp_path: Path) -> None:
    """`--db` and `--json` stand before or after the verb."""
    other = tmp_path / "other.db"
    run(db, "--db", str(other), "add", "Dora keeps bees.")

    assert [
        item["content"] for item in json.loads(run(db, "--json", "--db", str(other), "list").stdout)["items"]
    ] == ["Dora keeps bees."]


def test_text_comes_through_a_pipe(db: Path) -> None:
    """Without an argument the text is what standard input holds; nothing at all is an error of usage."""
    run(db, "add", stdin="The gate code is 4711.\n")

    assert "4711" in lines(db, "list")[0]
    assert "4711" in "".join(lines(db, "recall", stdin="What is the gate code?"))
    assert "TEXT" in run(db, "add", stdin="", code=2).stderr


def test_errors_are_json_for_programs(db: Path) -> None:
    """Under --json an error is the one document on standard output, whoever found it."""
    wrong = json.loads(run(db, "get", "zz", "--json", code=1).stdout)["error"]
    usage = json.loads(run(db, "get", "--json", code=2).stdout)["error"]

    assert (wrong["type"], "hex digits" in wrong["message"]) == ("InvalidInput", True)
    assert "REF" in usage["message"]


def test_receipts_speak_plainly(db: Path) -> None:
    """A receipt says what is new, what was known and what gave way, without slots or decisions."""
    new = lines(db, "add", "I work at Siemens.", "--speaker", "Ana", "--when", "2026-10-05")
    again = lines(db, "add", "I work at Siemens!", "--speaker", "Ana", "--when", "2026-10-06")
    moved = lines(db, "add", "I moved to Porto.", "--speaker", "Ana", "--when", "2026-10-07")

    assert "  Ana works at Siemens (new)" in new
    assert "  Ana works at Siemens (known already)" in again
    assert "  Ana lives in Porto (takes the place of what was believed)" in moved
    assert not any(word in line for line in (*new, *again, *moved) for word in ("opens", "slot", "closes"))


@pytest.mark.parametrize(
    ("change", "plain"),
    [
        ("A b C: ends, the text says so", "A b C (over)"),
        ("A b C: given", "A b C (new)"),
        ("A b C: given, and believed already", "A b C (known already)"),
        ("A b C: given; ends “A b D”", "A b C (ends “A b D”)"),
        (
            "A b C: contradicts, two sources disagree",
            "A b C (contradicts what is believed: two sources disagree)",
        ),
        ("ended (supersedes)", "what was believed before has ended"),
        ("proposed a merge", "proposed a merge"),
    ],
)
def test_every_effect_has_plain_words(change: str, plain: str) -> None:
    """What a changeset notes reads as a sentence."""
    assert told(change) == plain


def test_signs_are_shown_as_they_are_and_what_is_told_is_told_once(db: Path) -> None:
    """A family of signs stays one, what drives a terminal does not pass, a part of a fact is not told beside it."""
    told = run(db, "add", "Bo grows roses in Oslo.", "--speaker", "Ana").stdout
    run(db, "add", "\U0001f469\u200d\U0001f467 and \x1b[31m red", "--speaker", "Zo\u00eb")

    assert [line for line in told.splitlines() if "roses" in line] == ["  Bo grows roses in Oslo (new)"]
    assert "Zo\u00eb: \U0001f469\u200d\U0001f467 and \\x1b[31m red" in run(db, "list").stdout


def test_days_are_those_of_the_speaker(db: Path) -> None:
    """Half past midnight in Rome is that day everywhere, not the day before."""
    run(db, "add", "Late again at the harbour.", "--when", "2026-11-05T00:30+02:00")

    assert "[2026-11-05 00:30]" in lines(db, "list")[0]
    assert "2026-11-05 00:30" in "".join(lines(db, "recall", "Who was at the harbour?"))
    assert lines(db, "timeline", "harbour")[0].startswith("2026-11-05 00:30")
    run(db, "add", "I live in Faro. My sister Ida plays chess.", "--speaker", "Eva", "--when", "2026-11-05T00:40+02:00",
        "--session", "night")  # fmt: skip
    for shown in (lines(db, "profile", "Eva"), lines(db, "episodes", "--from", "2026-11-04")):
        assert "2026-11-04" not in "".join(shown)
        assert "2026-11-05" in "".join(shown)
    assert "2026-11-05 00:40" in "".join(lines(db, "episodes", "--read"))


def test_what_began_when_it_was_said_began_on_that_day(db: Path) -> None:
    """A fact, its proof and the context block show the day of the speaker, and edges read as words."""
    run(db, "add", "I work at Acme.", "--speaker", "Cleo", "--when", "2026-11-04T23:30-05:00")
    (fact,) = [line for line in lines(db, "list", "--type", "fact") if "Acme" in line]
    (cleo,) = [line[:12] for line in lines(db, "list", "--type", "entity") if line.endswith("Cleo")]

    assert fact.endswith("[since 2026-11-04]")
    assert "drawn from" in run(db, "why", fact[:12]).stdout
    assert "[2026-11-04 23:30]" in run(db, "why", fact[:12]).stdout
    assert "Ana works" not in run(db, "context", "Cleo").stdout
    assert "Cleo works at Acme [since 2026-11-04]" in run(db, "context", "Cleo").stdout
    around = run(db, "walk", cleo).stdout
    assert "I work at Acme. —mentions→ Cleo" in around
    assert "Cleo —works at→ Acme" in around
    assert not any(raw in around for raw in ("refers_to", "derived_from"))
    assert lines(db, "profile", "Cleo")[0] == "Cleo  1 turn, 2026-11-04 to 2026-11-04"


def test_looking_before_the_first_day_says_so(db: Path) -> None:
    """`--as-of` and `diff` before the import say that known time begins with it."""
    for args in (("list", "--as-of", "2026-10-03"), ("recall", "Rome", "--as-of", "2026-10-03")):
        assert "nothing was known here before" in run(db, *args).stdout
    assert "day of its import" in run(db, "diff", "2026-09-01", "2026-10-05").stdout
    assert "nothing was known" not in run(db, "list", "--valid-at", "2026-10-03").stdout


def test_a_long_text_says_that_it_takes_a_while(tmp_path: Path) -> None:
    """60 kB through a pipe: one line tells what goes on before it is done."""
    done = run(tmp_path / "long.db", "add", "--dry-run", stdin="Nothing to see here at all, again. " * 2000)

    assert "reading and embedding 70,000 characters" in done.stderr


def shell_lines(page: Path) -> list[tuple[str, list[str]]]:
    """Every command that a page prints, with the lines that it says come back."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.S | re.M):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found and line:
                found[-1][1].append(line)
    return found


@pytest.mark.parametrize("page", ["README.md", "docs/howto/shell.md"])
def test_shell_lines_run_as_printed(tmp_path: Path, page: str) -> None:
    """Each shell line of a page runs, one after the other, and prints what the page says; the first two start cold."""
    script = tmp_path / "bin" / "worldline"
    script.parent.mkdir()
    env = {**os.environ, "PATH": f"{script.parent}:{os.environ['PATH']}", "XDG_DATA_HOME": str(tmp_path)}
    env.pop("WORLDLINE_DB", None)
    commands = shell_lines(ROOT / page)
    assert len(commands) >= 6
    for number, (command, expected) in enumerate(commands):
        python = [sys.executable] if number < 2 and page == "README.md" else warm.python()
        script.write_text(f'#!/bin/sh\nexec {shlex.join(python)} -m worldline "$@"\n')
        script.chmod(0o755)
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        printed = iter(done.stdout.splitlines())
        assert all(line in printed for line in expected), (command, expected, done.stdout)


def test_recall_in_python_says_how_many_stand_out(tmp_path: Path) -> None:
    """`Recall.few` counts the hits that a person is shown; a list keeps all that belong to it."""
    from worldline import Config

    with Memory.open(tmp_path / "few.db", Config(embedder="none")) as memory:
        for text in ("I bought apples.", "I bought pears.", "I bought plums.", "The roof leaks."):
            memory.remember(text, speaker="Ana")

        assert memory.recall("What did Ana buy?").few >= 3
        assert memory.recall("What leaks?").few == 1


def test_long_work_tells_a_log_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where standard error is no terminal, a line comes each half minute, and not more often."""
    at = iter([0.0, 10.0, 31.0, 50.0, 62.0])
    monkeypatch.setattr(care, "time", SimpleNamespace(monotonic=lambda: next(at)))
    with care.WaitingCount() as progress:
        for done in range(1, 5):
            progress("embedding", done)

    assert capsys.readouterr().err.splitlines() == ["embedding: 2", "embedding: 4"]
