"""The shell: the whole story, JSON, errors and exit codes, standard input, interrupts, a quick start."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from clock import children_cpu
from worldline import Memory
from worldline.surfaces import care
from worldline.surfaces.cli import ALIASES, VERBS, main

_ENGINE = {"numpy", "rich", "apsw", "blake3", "Stemmer", "msgspec", "orjson", "worldline.memory"}


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A store's path; the file is not there yet."""
    return str(tmp_path / "me.db")


def run(db: str, *args: str, stdin: str | bytes | None = None, code: int = 0, **env: str) -> Result:
    """Runs a command line in this process and checks how it ended."""
    result = CliRunner(env={"WORLDLINE_DB": db, **env}).invoke(main, list(args), input=stdin)
    assert result.exit_code == code, result.output
    return result


def ask(db: str, *args: str, **more: Any) -> Any:
    """The JSON answer of a command line."""
    return json.loads(run(db, *args, "--json", **more).stdout)


def process(db: str, *args: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "worldline", *args],
        env={**os.environ, "WORLDLINE_DB": db},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **more,
    )


def ids(answer: Any) -> list[str]:
    """The ids of a page."""
    return [item["id"] for item in answer["items"]]


# The story ---------------------------------------------------------------------------------------


def test_contract_story(db: str) -> None:
    """An amended note answers differently on both axes."""
    silver = ask(db, "note", "context", "Acme contract", "tier: silver", "--valid-from", "2026-01-01")["id"]
    gold = ask(db, "amend", silver, "tier: gold", "--valid-from", "2026-03-01")

    before = ask(db, "history", silver)[0]["node"]["known"]["from"]

    assert ask(db, "get", silver)["content"] == "tier: gold"
    assert ask(db, "get", silver, "--valid-at", "2026-02-01")["content"] == "tier: silver"
    assert ask(db, "get", silver, "--valid-at", "2026-03-03")["content"] == "tier: gold"
    assert (
        ask(db, "get", silver, "--valid-at", "2026-03-03", "--known-at", before)["content"] == "tier: silver"
    )
    assert ask(db, "get", silver, "--exact")["content"] == "tier: silver"
    assert gold["changed"]
    assert [v["change"] for v in ask(db, "history", silver)] == ["put", "amended", "superseded"]


def test_words_facts_and_why(db: str) -> None:
    """A fact given with an event leads back to its words."""
    ask(db, "add", "Acme is on gold now.", "--speaker", "Ana", "--when", "2026-03-05",
        "--fact", "Acme", "tier", "gold")  # fmt: skip
    (fact,) = [item["id"] for item in ask(db, "list", "--type", "Fact")["items"] if item["name"] == "tier"]

    found = ask(db, "why", fact)

    assert found["reasons"][0]["node"]["content"] == "Acme is on gold now."
    assert "Acme is on gold now." in run(db, "why", fact).stdout


def test_doctor_and_reread(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor says who reads and who has read; reading again brings the facts up to date."""
    run(db, "add", "I live in Berlin.", "--user", "ana", WORLDLINE_UNDERSTAND="off")
    told = run(db, "doctor").stdout
    assert "1 read by nobody yet" in told
    assert "worldline reread" in told
    assert ask(db, "reread", "--dry-run")["dry_run"]
    assert ask(db, "list", "--type", "Fact")["items"] == []
    assert "1 events read again by" in run(db, "reread").stdout
    assert [item["content"] for item in ask(db, "list", "--type", "Fact")["items"]] == ["ana lives in Berlin"]
    assert run(db, "reread").stdout == "nothing to read again\n"
    assert ask(db, "reread", "--all")["changed"] == 0
    assert "worldline reread" not in run(db, "doctor").stdout
    assert "understand" in run(db, "reread", code=1, WORLDLINE_UNDERSTAND="off").stderr


def test_a_damaged_parser_is_told_and_breaks_nothing(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor names the remedy; words are stored and recalled, and records are read."""
    from worldline.reading import parser

    def damaged() -> None:
        raise parser.ParserDamaged(
            "the parser's file x is missing or changed; install it again: pip install …"
        )

    monkeypatch.setattr(parser, "_loaded", damaged)
    monkeypatch.setattr(parser, "_TROUBLE", [])
    parser._loaded_once.cache_clear()
    try:
        run(db, "add", "I live in Berlin.")
        assert "I live in Berlin." in run(db, "recall", "Where do I live?").stdout
        told = run(db, "doctor", code=1).stdout
        assert "install it again" in told
        assert "1 read by records only" in told
    finally:
        parser._loaded_once.cache_clear()


def test_days_are_days_wherever_they_were_said(db: str) -> None:
    """A date is shown as the speaker's day, not as the UTC instant of the day before."""
    run(db, "add", "Since May 3rd I work at Acme.", "--user", "ana", "--when", "2026-06-05T10:00+09:00")

    assert "ana works at Acme  [since 2026-05-03]" in run(db, "list", "--type", "Fact").stdout
    assert "[since 2026-05-03]" in run(db, "profile", "ana", "--user", "ana").stdout


def test_correct_retire_and_back(db: str) -> None:
    """Retiring hides, correcting with an open end brings back, correcting with nothing withdraws."""
    id_ = ask(db, "note", "learning", "tea", "green", "--valid-from", "2026-01-01")["id"]

    run(db, "retire", id_, "--when", "2026-02-01")
    assert ids(ask(db, "list")) == []
    assert ids(ask(db, "list", "--include-superseded")) == [id_]
    assert ask(db, "retire", id_, "--when", "2026-02-01")["changed"] is False

    run(db, "correct", id_, "--valid-to", "forever")
    assert ids(ask(db, "list")) == [id_]

    run(db, "correct", id_, "black", "--reason", "misheard")
    assert ask(db, "get", id_)["content"] == "black"

    run(db, "correct", id_)
    assert ids(ask(db, "list")) == []


def test_edges_by_their_three_parts(db: str) -> None:
    """An edge is retired and corrected by source, type and target."""
    a, b = (ask(db, "note", "project", name)["id"] for name in "ab")
    run(db, "link", a, "relates_to", b)
    assert len(ask(db, "walk", a)["edges"]) == 1

    run(db, "retire", a, "relates_to", b)
    assert ask(db, "walk", a)["edges"] == []

    run(db, "link", b, "refines", a)
    assert "without" in run(db, "correct", b, "refines", a, "--name", "c", code=1).stderr
    told = ask(db, "correct", b, "refines", a, "--reason", "another b")["changes"]
    assert "another b" in told[0]
    assert ask(db, "walk", a)["edges"] == []

    missing = run(db, "retire", a, "supports", b, code=1)
    assert "no supports edge" in missing.stderr


def test_correcting_a_supersedes_edge_restores_its_target(db: str) -> None:
    """What was ended by mistake has its former interval back."""
    old = ask(db, "note", "context", "tier", "silver", "--valid-from", "2026-01-01")["id"]
    new = ask(db, "note", "context", "other tier", "gold", "--valid-from", "2026-03-01")["id"]
    run(db, "link", new, "supersedes", old)
    assert old not in ids(ask(db, "list"))

    run(db, "correct", new, "supersedes", old)

    assert ask(db, "get", old)["valid"] == {"from": "2026-01-01T00:00:00Z", "to": None}


def test_an_amendments_edge_is_found_through_its_lineage(db: str) -> None:
    """The supersedes edge between two versions of one memory can be named by either of them."""
    old = ask(db, "note", "context", "tier", "silver", "--valid-from", "2026-01-01")["id"]
    new = ask(db, "amend", old, "gold", "--valid-from", "2026-03-01")["id"]

    assert ask(db, "correct", new, "supersedes", old, "--dry-run")["changed"]
    assert ask(db, "correct", old, "supersedes", old, "--dry-run")["changed"]


def test_worlds_bound_reads(db: str) -> None:
    """Inside a world, only what lies inside is seen; its hash changes with its contents."""
    world = ask(db, "note", "project", "inside")["id"]
    ask(db, "note", "project", "outside")
    child = ask(db, "note", "learning", "child", "--world", world)["id"]

    (first,) = ask(db, "worlds")["worlds"]
    ask(db, "note", "learning", "second child", "--world", world)
    (second,) = ask(db, "worlds")["worlds"]

    assert {child, world} <= set(ids(ask(db, "list", "--world", world)))
    assert len(ids(ask(db, "list", "--world", world))) == 3
    assert first["hash"] != second["hash"]
    assert ask(db, "get", first["hash"])["id"] == world


def test_scopes_do_not_leak(db: str) -> None:
    """A user's memories are seen through that user's scope only."""
    mine = ask(db, "note", "user", "likes", "tea", "--user", "ana")["id"]
    ask(db, "note", "user", "likes", "coffee", "--user", "bo")

    assert ids(ask(db, "list", "--user", "ana")) == [mine]
    assert "no memory" in run(db, "get", mine, "--user", "bo", code=1).stderr
    assert ids(ask(db, "list", "--tenant", "other")) == []


def test_merges_from_the_shell(db: str) -> None:
    """A stated identity waits for a decision, and the decision can be undone."""
    a, b = (ask(db, "note", "user", name)["id"] for name in ("Ana", "Anna"))
    (proposal,) = ask(db, "link", a, "same_as", b)["proposals"]

    assert [p["id"] for p in ask(db, "merges")] == [proposal]
    assert "Anna" in run(db, "merges").stdout
    assert ask(db, "merges", "accept", proposal[:12], "--dry-run")["dry_run"]
    assert ask(db, "merges", "accept", proposal[:12])["changed"]
    assert len(ids(ask(db, "list"))) == 1
    assert ask(db, "merges", "undo", proposal)["changed"]
    assert len(ids(ask(db, "list"))) == 2
    assert "no merge proposals" in run(db, "merges").stdout


def test_undo_takes_a_write_back(db: str) -> None:
    """The times that a receipt shows undo the whole write."""
    told = run(db, "add", "Bo moved", "--fact", "Bo", "lives in", "Rome").stdout
    times = told.split("worldline undo ")[1].split()

    run(db, "undo", *times, "--dry-run")
    assert len(ids(ask(db, "list", "--type", "Turn"))) == 1

    run(db, "undo", *times)
    assert ids(ask(db, "list", "--type", "Turn")) == []
    assert ids(ask(db, "list", "--type", "Fact")) == []


def test_diff_changes_confirm(db: str) -> None:
    """The feed, the difference and a confirmation all tell of the same memory."""
    id_ = ask(db, "note", "learning", "tea", "green")["id"]
    start = ask(db, "changes")[0]["known_at"]

    assert [n["id"] for n in ask(db, "diff", start)["added"]] == [id_]
    assert ask(db, "changes", "--since", start)[-1]["item"]["id"] == id_
    assert ask(db, "confirm", id_)["changed"]
    assert ask(db, "get", id_)["status"] == "confirmed"
    assert "tea" in run(db, "diff", "2026-01-01").stdout
    assert "tea" in run(db, "changes").stdout


def test_dry_run_writes_nothing(db: str) -> None:
    """A dry run tells what would happen and leaves the store as it was."""
    assert ask(db, "note", "learning", "tea", "--dry-run")["dry_run"] is True
    assert ids(ask(db, "list")) == []


def test_pages_and_metadata(db: str) -> None:
    """Lists go on from the mark of the page before, and filter by metadata."""
    for number in range(3):
        ask(db, "note", "learning", f"n{number}", "--meta", f"n={number}", "--meta", "kind=odd one")

    first = ask(db, "list", "--limit", "2")
    rest = ask(db, "list", "--limit", "2", "--page", first["next"])

    assert len(ids(first)) == 2
    assert len(ids(rest)) == 1
    assert rest["next"] is None
    assert [i["name"] for i in ask(db, "list", "--meta", "n=1")["items"]] == ["n1"]


# Input and output --------------------------------------------------------------------------------


def test_every_verb_has_help_with_an_example() -> None:
    """Each verb teaches by example, and the list of verbs says what its help says."""
    context = click.Context(main)
    for verbs in VERBS.values():
        for name, (_, summary) in verbs.items():
            command = main.get_command(context, name)
            assert command is not None
            assert command.name == name
            assert f"worldline {name}" in (command.help or "")
            assert "Example" in (command.help or "")
            assert (command.help or "").splitlines()[0] == summary
            assert "--json" in CliRunner().invoke(main, [name, "--help"]).stdout
    assert main.get_command(context, next(iter(ALIASES))) is main.get_command(context, "add")


def test_text_from_standard_input(db: str) -> None:
    """`-` reads the text from standard input, without its last line break."""
    id_ = ask(db, "add", "-", stdin="two\nlines\n")["id"]

    assert ask(db, "get", id_)["content"] == "two\nlines"


def test_unicode_survives(db: str) -> None:
    """Emoji, CJK and accents come back exactly as they went in."""
    text = "naïve 🥇 黄金会员 עברית"
    id_ = ask(db, "remember", text, "--speaker", "José")["id"]

    assert ask(db, "get", id_)["content"] == text
    assert text in run(db, "list", "--type", "Turn").stdout


def test_stored_control_characters_cannot_drive_the_terminal(db: str) -> None:
    """Escape sequences in a memory are shown, not sent to the terminal."""
    id_ = ask(db, "note", "learning", "x", "red \x1b[31m text")["id"]

    assert "\x1b" not in run(db, "get", id_).stdout
    assert r"\x1b[31m" in run(db, "get", id_).stdout
    assert ask(db, "get", id_)["content"] == "red \x1b[31m text"


def test_json_has_no_row_numbers(db: str) -> None:
    """Row numbers of the store never leave it."""
    id_ = ask(db, "note", "learning", "tea")["id"]

    assert not {"key", "line", "scope", "row"} & set(ask(db, "get", id_))


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["get", "zz"], 1, "hex digits"),
        (["get", "0" * 12], 1, "no memory"),
        (["note", "lesson", "x"], 1, "allowed here"),
        (["note", "learning", ""], 1, "empty"),
        (["add", "x", "--when", "soon"], 1, "2026-03-05"),
        (["add", "-"], 1, "not UTF-8"),
        (["retire", "a", "b"], 2, "SRC TYPE DST"),
        (["merges", "accept"], 2, "one PROPOSAL"),
        (["note", "learning", "x", "--meta", "novalue"], 2, "KEY=VALUE"),
        (["nonsense"], 2, "There is no verb"),
        (["get"], 2, "REF"),
    ],
)
def test_errors_are_one_clear_line(db: str, args: list[str], code: int, told: str) -> None:
    """What the caller can mend is told on standard error, with an exit code and no traceback."""
    ask(db, "note", "learning", "first")
    result = run(db, *args, stdin=b"\xff", code=code)

    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_reading_makes_no_store(db: str) -> None:
    """A mistyped path is an error for a read, not a new empty store."""
    assert "worldline init" in run(db, "list", code=1).stderr
    assert not Path(db).exists()


def test_unknown_setting_is_an_error(db: str) -> None:
    """A typo in the environment is refused, and the doctor names it."""
    assert "max_dept" in run(db, "init", code=1, WORLDLINE_MAX_DEPT="3").stderr
    assert "max_dept" in run(db, "doctor", code=1, WORLDLINE_MAX_DEPT="3").stdout


# Care --------------------------------------------------------------------------------------------


def test_init_stats_verify_backup_doctor(db: str, tmp_path: Path) -> None:
    """A store can be made, counted, proved, copied and diagnosed."""
    assert ask(db, "init")["created"] is True
    assert ask(db, "init")["created"] is False
    id_ = ask(db, "note", "learning", "tea")["id"]
    copy = str(tmp_path / "copy.db")

    assert ask(db, "stats")["visible"]["learning"] == 1
    assert ask(db, "verify")["ok"] is True
    assert ask(db, "backup", copy)["bytes"] > 0
    assert ids(ask(copy, "list")) == [id_]
    assert "exists already" in run(db, "backup", copy, code=1).stderr
    assert "exists already" in run(db, "backup", db, "--force", code=1).stderr
    assert "cannot" in run(db, "backup", str(tmp_path / "no" / "x.db"), code=1).stderr
    assert {f["state"] for f in ask(db, "doctor")} <= {"ok", "note"}


def test_verify_names_damage(db: str) -> None:
    """A changed byte makes verify fail, and it says where."""
    import apsw

    ask(db, "note", "learning", "tea", "green")
    connection = apsw.Connection(db)
    connection.execute("UPDATE nodes SET content = 'grEen' WHERE name = 'tea'")
    connection.close()

    result = run(db, "verify", code=1)
    assert "DAMAGED" in result.stdout
    assert "hash to its id" in result.stdout


def test_a_file_of_another_program_is_refused(db: str) -> None:
    """Something that is no store is left alone."""
    Path(db).write_text("just some notes\n" * 100)

    assert "not a Worldline store" in run(db, "list", code=1).stderr
    assert "not a Worldline store" in run(db, "doctor", code=1).stdout
    assert Path(db).read_text().startswith("just some notes")


@pytest.mark.parametrize(
    "kind", ["user", "agent", "app", "run", "session", "world", "valid-at", "known-at", "as-of"]
)
def test_an_empty_name_is_refused_and_never_means_everybody(db: str, kind: str) -> None:
    """`--user "$USER_ID"` with an unset variable shows nobody's memories."""
    run(db, "note", "context", "Acme", "tier: silver", "--user", "ann")

    assert "Acme" not in run(db, "list", f"--{kind}", "", code=1).output


def test_a_port_that_cannot_be_is_wrong_usage(db: str) -> None:
    """A number beyond the ports is refused like any wrong option, as JSON too."""
    told = json.loads(run(db, "serve", "--port", "99999999", "--json", code=2).stdout)

    assert "99999999" in told["error"]["message"]


# Real processes ----------------------------------------------------------------------------------


def test_help_starts_fast_and_loads_no_engine(db: str) -> None:
    """`--help` imports neither the engine nor its libraries, and takes under 0.3 s of CPU time."""
    listed = process(db, "--help", cwd="/").stdout
    code = "import sys, worldline.surfaces.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: pass\n"
    code += "print(len(sys.modules), *sorted(sys.modules), file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    count, *modules = loaded.split()

    best = min(children_cpu(lambda: _quietly("--help")) for _ in range(5))

    assert "Example" not in listed
    assert "retire" in listed
    assert not _ENGINE & set(modules)
    assert int(count) < 200
    assert best < 0.3


def _quietly(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "worldline", *arguments], capture_output=True, check=True)


def test_output_pipes_cleanly(db: str) -> None:
    """A reader that goes away causes neither a traceback nor a message."""
    with Memory.open(db) as memory:
        for number in range(300):
            memory.note("learning", f"note {number}", "x" * 900)
    command = f"{sys.executable} -m worldline list --limit 300 --json --db {db} | head -c 10"

    piped = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)

    assert piped.stdout == '{"items":['
    assert piped.stderr == ""


def test_no_colour_into_a_pipe(db: str) -> None:
    """Piped text carries no colour."""
    process(db, "note", "learning", "tea")

    assert "\x1b" not in process(db, "list").stdout


def test_no_color_switches_colour_off(db: str) -> None:
    """On a terminal there is colour, unless NO_COLOR is set."""
    ask(db, "note", "learning", "tea")
    runner = CliRunner()

    assert "\x1b[" in runner.invoke(main, ["list", "--db", db], color=True).stdout
    assert "\x1b[" not in runner.invoke(main, ["list", "--db", db], color=True, env={"NO_COLOR": "1"}).stdout


@pytest.mark.parametrize("with_rich", [True, False])
def test_long_work_shows_progress_on_a_terminal_only(
    with_rich: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Progress goes to standard error of a terminal, with rich and without it."""
    monkeypatch.setattr(care, "_PATIENCE", 0.0)
    if not with_rich:
        monkeypatch.setattr(care, "_spinner", lambda text: None)
    with care.WaitingCount() as progress:
        progress("nodes", 5000)
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with care.WaitingCount() as progress:
        progress("nodes", 5000)
        progress("edges", 10000)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "10,000" in captured.err


def test_interrupt_leaves_the_store_whole(db: str) -> None:
    """Ctrl-C while waiting for the write lock ends with 130, and the store is as it was."""
    with Memory.open(db) as memory:
        memory.note("learning", "tea")
        with memory.handle.store.writing("default", keep=False):
            waiting = subprocess.Popen(
                [sys.executable, "-m", "worldline", "note", "learning", "late", "--db", db],
                stderr=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                preexec_fn=_hear_interrupts,
            )
            _wait_until_it_queues(waiting.pid, db + ".lock")
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=30)

    assert waiting.returncode == 130, err
    assert out == ""
    assert "interrupted" in err
    assert "Traceback" not in err
    with Memory.open(db) as memory:
        assert memory.verify().ok
        assert [node.name for node in memory.list().items] == ["tea"]


def _hear_interrupts() -> None:
    """Whoever runs the tests in the background ignores interrupts, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _target(link: Path) -> str:
    """What a process has open there; nothing, where it closed it meanwhile."""
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _wait_until_it_queues(pid: int, lock: str) -> None:
    """Until that process has opened the lock file, and a little longer."""
    for _ in range(300):
        if any(_target(link) == lock for link in Path(f"/proc/{pid}/fd").glob("*")):
            break
        time.sleep(0.05)
    time.sleep(0.3)


@pytest.mark.parametrize("verb", ["resume", "flush", "reembed"])
def test_no_verb_takes_a_dry_run_that_it_ignores(db: str, verb: str) -> None:
    """What cannot be tried without doing it has no such option."""
    run(db, "note", "context", "a")

    assert "--dry-run" not in run(db, verb, "--help").output
    assert "no such option" in run(db, verb, "--dry-run", code=2).output.lower()
