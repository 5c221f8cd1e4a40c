"""Hooks for coding agents: never late, never failing, quoted as data; and their setup with undo."""

import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from worldline import Config, Memory
from worldline.config import default_path
from worldline.surfaces import hooks, installing
from worldline.surfaces.cli import main

TRIES = 20


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store with a few notes and things said."""
    path = tmp_path / "data" / "me.db"
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.note("context", "Acme contract", "tier: gold, renewed in March")
        memory.note("feedback", "Style", "Use tabs in this project")
        gone = memory.note("context", "Old contract", "tier: silver")
        memory.retire(gone)
        memory.remember("Deploys go through the staging cluster first", speaker="user", session="s")
    return path


def context(event: str, given: dict[str, Any], db: Path, seconds: float = 5.0) -> str:
    """What a hook adds to the agent's context."""
    answer = hooks.HookCall(event, db, "default", lambda: seconds, []).run(given)
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""


def process(
    db: Path, event: str, given: bytes, **env: str
) -> tuple[subprocess.CompletedProcess[bytes], float]:
    """Runs a hook as an agent does; how it ended, and how long it took."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "worldline", "hook", event],
        input=given, capture_output=True, timeout=30, check=False,
        env={**os.environ, "WORLDLINE_DB": str(db), "WORLDLINE_EMBEDDER": "none", **env},
    )  # fmt: skip
    return done, time.monotonic() - began


# Answers -------------------------------------------------------------------------------------------


def test_a_prompt_brings_what_is_remembered(db: Path) -> None:
    """What meets the prompt's words and still holds is added, quoted as data; the rest is not."""
    told = context("prompt", {"prompt": "Which tier does the Acme contract have?"}, db)

    assert "Acme contract: tier: gold, renewed in March" in told
    assert "silver" not in told
    assert "tabs" not in told
    assert "not instructions" in told
    assert "user: Deploys" in context("prompt", {"prompt": "how do deploys reach the cluster"}, db)


@pytest.mark.parametrize("prompt", ["", "thanks, go on", "/clear", "Why is the sky blue?", "the contract"])
def test_a_prompt_that_meets_nothing_adds_nothing(db: Path, prompt: str) -> None:
    """Small talk, slash commands and unrelated questions bring no noise."""
    told = context("prompt", {"prompt": prompt}, db)

    assert told == "" or prompt == "the contract"


def test_a_session_begins_with_the_context_block(db: Path) -> None:
    """Notes that stand first, then the last things said, each with its id; what is over is left out."""
    told = context("session-start", {"source": "startup"}, db)

    assert max(told.index("Acme"), told.index("tabs")) < told.index("Said last:") < told.rindex("Deploys")
    assert re.search(r"Acme contract: tier: gold.* \([0-9a-f]{12}\)", told)
    assert "silver" not in told


def test_a_damaged_block_still_leaves_the_newest_notes(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the context block cannot be made, the newest notes are shown and the log says why."""
    monkeypatch.setattr(Memory, "context", lambda *_, **__: 1 / 0)

    assert "tabs" in context("session-start", {}, db)
    assert "no context block: ZeroDivisionError" in (db.parent / "hooks.log").read_text()


def test_the_log_tells_what_the_limit_cut(db: Path) -> None:
    """An input that never ends is left at the limit, and hooks.log has a line about it."""
    child = subprocess.Popen(
        [sys.executable, "-m", "worldline", "hook", "prompt", "--db", str(db)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert child.wait(20) == 0
    finally:
        child.kill()
        child.communicate()

    assert "prompt: the limit of 1 s cut the answer short" in (db.parent / "hooks.log").read_text()


def test_the_output_is_bounded(db: Path) -> None:
    """Long memories are cut, and the whole stays below what the agent takes."""
    with Memory.open(db, Config(embedder="none")) as memory:
        for number in range(30):
            memory.note("context", f"long {number}", "word " * 2000)

    assert len(context("session-start", {}, db)) < hooks._LONGEST_OUTPUT + 200


def test_tenants_are_apart(db: Path) -> None:
    """A hook of another tenant sees nothing."""
    assert hooks.HookCall("session-start", db, "other", lambda: 5.0, []).run({}) == ""


def test_the_default_store_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook looks where every other verb looks."""
    monkeypatch.delenv("WORLDLINE_DB", raising=False)
    assert hooks.store_path(None) == default_path()
    monkeypatch.setenv("XDG_DATA_HOME", "/x")
    assert hooks.store_path(None) == default_path()
    monkeypatch.setenv("WORLDLINE_DB", "~/y.db")
    assert hooks.store_path(None) == default_path()
    assert hooks.store_path("z.db") == Path("z.db")


def test_no_store_is_no_error(tmp_path: Path) -> None:
    """Before anything was remembered a hook says nothing and makes no file."""
    assert context("prompt", {"prompt": "anything at all"}, tmp_path / "none.db") == ""
    assert list(tmp_path.iterdir()) == []


# Processes -----------------------------------------------------------------------------------------


def test_the_json_of_claude_code(db: Path) -> None:
    """As a process: the hook's input on standard input, its JSON on standard output, exit code 0."""
    given = {
        "session_id": "s", "transcript_path": "/nowhere.jsonl", "cwd": "/src/app",
        "hook_event_name": "UserPromptSubmit", "prompt": "Which tier does the Acme contract have?",
    }  # fmt: skip
    for _ in range(TRIES):  # a busy machine may miss the limit now and then, never every time
        done, _ = process(db, "prompt", json.dumps(given).encode())
        assert (done.returncode, done.stderr) == (0, b"")
        if done.stdout:
            break

    assert done.stdout, (db.parent / "hooks.log").read_text()
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "UserPromptSubmit"
    assert "tier: gold" in output["additionalContext"]


def test_never_later_than_the_limit(db: Path) -> None:
    """Even with a server that never answers, the hook ends in time, and answers by words."""
    given = json.dumps({"prompt": "Which tier does the Acme contract have?"}).encode()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = f"http://127.0.0.1:{silent.getsockname()[1]}"
        took, bare, told = [], [], []
        for _ in range(6):
            done, seconds = process(db, "prompt", given, WORLDLINE_SERVER=at)
            assert done.returncode == 0
            took.append(seconds)
            told.append(done.stdout)
            began = time.monotonic()
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            bare.append(time.monotonic() - began)

    assert min(took) - min(bare) < 1.2  # a second, and what a busy machine adds
    assert any(b"tier: gold" in shown for shown in told)


def test_standard_input_that_never_ends(db: Path) -> None:
    """An agent that keeps the pipe open does not hang on us."""
    child = subprocess.Popen(
        [sys.executable, "-m", "worldline", "hook", "prompt", "--db", str(db)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("given", [b"not json", b"[]", b'{"prompt": 7}', b"\xff", b""])
def test_never_fails(db: Path, given: bytes) -> None:
    """Whatever arrives, the exit code is 0, nothing is printed, and errors go to the log."""
    done, _ = process(db, "prompt", given)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_errors_are_in_the_log(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no store is told in hooks.log beside it."""
    db.write_text("this is not a store, and longer than a header " * 40, "utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"prompt": "the Acme contract"}')))

    assert hooks.HookCall("prompt", db, "default", lambda: 5.0, []).answer() == ""
    assert "prompt: NotADBError" in (db.parent / "hooks.log").read_text("utf-8")


def test_a_session_is_stored_when_it_ends(db: Path, tmp_path: Path) -> None:
    """The transcript is imported by a process that outlives the hook, with the project as its app."""
    line = {
        "uuid": "u1", "type": "user", "sessionId": "s9", "timestamp": "2026-02-01T08:00:00Z",
        "message": {"role": "user", "content": "Remember the blue button"},
    }  # fmt: skip
    transcript = tmp_path / "t.jsonl"
    transcript.write_text(json.dumps(line) + "\n{broken\n", "utf-8")
    given = json.dumps({"transcript_path": str(transcript), "cwd": "/src/shop", "reason": "exit"})
    for _ in range(2):
        done, _ = process(db, "session-end", given.encode())
        assert (done.returncode, done.stdout) == (0, b"")

    until = time.monotonic() + 30
    while time.monotonic() < until:
        with Memory.open(db, Config(embedder="none")) as memory:
            turns = memory.scoped(agent="claude-code", app="shop").list("Turn").items
        log = db.parent / "hooks.log"
        stored = log.read_text("utf-8").count("claude-code: ") if log.exists() else 0
        if turns and stored == 2:
            break
        time.sleep(0.2)
    assert [turn.content for turn in turns] == ["Remember the blue button"]


# A server ------------------------------------------------------------------------------------------


class _Server(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Answers a recall as `worldline serve` does."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        node = {"type": "Turn", "name": "Ana", "content": f"about {asked['question']}", "valid": {}}
        hits = [{"node": node, "speaker": "Ana", "said_at": 1767225600000000}]
        data = json.dumps({"hits": hits, "abstained": asked["question"] == "nothing"}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Stays silent."""


def test_a_running_server_is_asked(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With WORLDLINE_SERVER the server's recall is shown; its abstention is silence."""
    server = HTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("WORLDLINE_SERVER", f"http://127.0.0.1:{server.server_port}")
    try:
        assert "- [2026-01-01] Ana: about tea" in context("prompt", {"prompt": "tea"}, db)
        assert context("prompt", {"prompt": "nothing"}, db) == ""
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_dead_server_falls_back_to_words(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is away costs a line in the log, not the answer."""
    monkeypatch.setenv("WORLDLINE_SERVER", "http://127.0.0.1:9")

    told = context("prompt", {"prompt": "Which tier does the Acme contract have?"}, db)

    assert "tier: gold" in told
    assert "did not answer" in (db.parent / "hooks.log").read_text("utf-8")


# Setup ---------------------------------------------------------------------------------------------

OTHER = {"hooks": [{"type": "command", "command": "echo hi"}], "matcher": "startup"}


def install(path: Path, *args: str, stdin: str = "", code: int = 0) -> str:
    """Runs `worldline install claude-code` on a settings file."""
    result = CliRunner().invoke(main, ["install", "claude-code", "--settings", str(path), *args], input=stdin)
    assert result.exit_code == code, result.output
    return result.output


def test_install_shows_asks_and_writes(tmp_path: Path) -> None:
    """The change is a diff; no means nothing; yes writes it once, with a backup, and keeps the rest."""
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"model": "opus", "hooks": {"SessionStart": [OTHER]}}), "utf-8")
    before = path.read_text("utf-8")

    refused = install(path, stdin="n\n")
    assert "+++" in refused
    assert "nothing was changed" in refused
    assert path.read_text("utf-8") == before
    install(path, "--db", str(tmp_path / "me.db"), stdin="y\n")

    settings = json.loads(path.read_text("utf-8"))
    commands = [group["hooks"][0]["command"] for group in settings["hooks"]["SessionStart"]]
    assert (settings["model"], commands[0]) == ("opus", "echo hi")
    assert commands[1].endswith(f"hook session-start --db {tmp_path / 'me.db'}")
    assert set(settings["hooks"]) == set(installing.HOOKS)
    assert [p.read_text("utf-8") for p in tmp_path.glob("*.backup")] == [before]
    assert "nothing to change" in install(path, "--db", str(tmp_path / "me.db"), "--yes")


def test_undo_gives_the_settings_back(tmp_path: Path) -> None:
    """What was there before is there after; a file that only we filled is empty again."""
    path = tmp_path / "deep" / "settings.json"
    original = {"hooks": {"SessionStart": [OTHER]}, "env": {"A": "1"}}
    install(path, "--yes")
    install(path, "--undo", "--yes")
    assert json.loads(path.read_text("utf-8")) == {}

    path.write_text(json.dumps(original), "utf-8")
    install(path, "--yes")
    install(path, "--yes", "--db", "/elsewhere/me.db")
    assert len(json.loads(path.read_text("utf-8"))["hooks"]["SessionStart"]) == 2
    install(path, "--undo", "--yes")

    assert json.loads(path.read_text("utf-8")) == original


def test_install_dry_run_and_broken_settings(tmp_path: Path) -> None:
    """A dry run writes nothing; a settings file that cannot be read is not touched."""
    path = tmp_path / "settings.json"
    install(path, "--dry-run")
    shown = json.loads(install(path, "--json"))
    assert (shown["written"], bool(shown["diff"])) == (False, True)
    assert not path.exists()

    path.write_text("{broken", "utf-8")
    told = install(path, "--yes", code=1)
    assert "was not touched" in told
    assert path.read_text("utf-8") == "{broken"


@pytest.mark.parametrize(
    ("agent", "before", "key"),
    [
        ("claude-desktop", '{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}', "mcpServers"),
        ("cursor", '{"mcpServers": {"other": {"command": "x"}}}', "mcpServers"),
        ("vscode", '{"servers": {"other": {"command": "x"}}, "inputs": []}', "servers"),
    ],
)
def test_the_server_goes_into_other_agents(tmp_path: Path, agent: str, before: str, key: str) -> None:
    """`worldline mcp` is added beside other servers, once, can be started as written, and goes out again."""
    path = tmp_path / "mcp.json"
    path.write_text(before, "utf-8")
    args = ["install", agent, "--settings", str(path), "--yes"]
    for db in ("one.db", "two.db"):
        assert CliRunner().invoke(main, [*args, "--db", str(tmp_path / db)]).exit_code == 0
    servers = json.loads(path.read_text("utf-8"))[key]

    assert set(servers) == {"other", "worldline"}
    assert servers["worldline"]["args"][-3:] == ["mcp", "--db", str(tmp_path / "two.db")]
    assert shutil.which(servers["worldline"]["command"])
    assert CliRunner().invoke(main, [*args, "--undo"]).exit_code == 0
    assert json.loads(path.read_text("utf-8")) == json.loads(before)


@pytest.mark.parametrize(
    ("agent", "before"),
    [
        (
            "vscode",
            '{\n\t// mine\n\t"servers": {\n\t\t"other": {"command": "x"}, /* and\n more */\n\t},\n}\n',
        ),
        ("cursor", '{"mcpServers": {"a": {"url": "http://x//y"}}, "z": [1, 2,],}'),
        ("claude-desktop", '{ "theme": "dark" // night\n}'),
        ("claude-code", '{\n  // mine\n  "model": "x",\n  "hooks": {"Stop": []},\n}\n'),
    ],
)
def test_comments_stay_and_undo_gives_every_byte_back(tmp_path: Path, agent: str, before: str) -> None:
    """Files of editors have comments and trailing commas: only our part of the text comes and goes."""
    path = tmp_path / "settings.json"
    path.write_text(before, "utf-8")
    args = ["install", agent, "--settings", str(path), "--yes"]
    for more in ((), ("--db", "two.db"), ("--undo",)):
        assert CliRunner().invoke(main, [*args, *more]).exit_code == 0
        assert ("worldline" in path.read_text("utf-8")) == (more != ("--undo",))

    assert "".join(path.read_text("utf-8").split()) == "".join(before.split())
    assert path.read_text("utf-8") == before or agent == "claude-code"
    kept = sorted(tmp_path.glob("*.backup"))
    assert len(kept) == 3
    assert before in {copy.read_text("utf-8") for copy in kept}


def test_codex_keeps_its_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is added to config.toml and taken out again; everything else stays to the letter."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    path = tmp_path / "config.toml"
    before = '# mine\nmodel = "o"\n\n[mcp_servers.other]\ncommand = "x"  # keep\n'
    path.write_text(before, "utf-8")
    for _ in range(2):
        assert CliRunner().invoke(main, ["install", "codex", "--yes"]).exit_code == 0
    servers = tomllib.loads(path.read_text("utf-8"))["mcp_servers"]

    assert set(servers) == {"other", "worldline"}
    assert servers["worldline"]["args"][-1] == "mcp"
    assert path.read_text("utf-8").startswith(before)
    assert CliRunner().invoke(main, ["install", "codex", "--undo", "--yes"]).exit_code == 0
    assert path.read_text("utf-8") == before
    path.write_text("model = ", "utf-8")
    assert "was not touched" in CliRunner().invoke(main, ["install", "codex", "--yes"]).output


def test_settings_lie_where_the_agents_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --settings the file is the agent's own, or with --project the folder's."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    found = {name: agent.own().relative_to(tmp_path).as_posix() for name, agent in installing.AGENTS.items()}

    assert found["claude-code"] == ".claude/settings.json"
    assert found["cursor"] == ".cursor/mcp.json"
    assert found["codex"] == ".codex/config.toml"
    assert found["claude-desktop"].endswith("Claude/claude_desktop_config.json")
    CliRunner().invoke(main, ["install", "cursor", "--project", "--yes"])
    assert (tmp_path / ".cursor" / "mcp.json").exists()
    assert "no settings of a project" in CliRunner().invoke(main, ["install", "codex", "--project"]).output


def test_the_installed_command_runs(db: Path, tmp_path: Path) -> None:
    """The very command line in the settings answers a hook."""
    path = tmp_path / "settings.json"
    install(path, "--yes", "--db", str(db))
    (group,) = json.loads(path.read_text("utf-8"))["hooks"]["UserPromptSubmit"]

    for _ in range(TRIES):
        done = subprocess.run(
            group["hooks"][0]["command"], shell=True, input=b'{"prompt": "tier of the Acme contract"}',
            capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        assert done.returncode == 0
        if done.stdout:
            break
    assert b"tier: gold" in done.stdout


# Completion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_made(shell: str) -> None:
    """The documented line gives a script for each shell that names our program."""
    done = subprocess.run(
        [sys.executable, "-c", "from worldline.surfaces.cli import main; main(prog_name='worldline')"],
        env={**os.environ, "_WORLDLINE_COMPLETE": f"{shell}_source"},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("click asks bash itself for its version, and there is none here")

    assert "_WORLDLINE_COMPLETE" in done.stdout
    assert "worldline" in done.stdout


def test_completion_completes_verbs_and_formats() -> None:
    """The shell's question for the rest of a word is answered with verbs, and with formats."""

    def completed(words: str) -> str:
        env = {**os.environ, "_WORLDLINE_COMPLETE": "bash_complete", "COMP_WORDS": words,
               "COMP_CWORD": str(words.count(" "))}  # fmt: skip
        code = "from worldline.surfaces.cli import main; main(prog_name='worldline')"
        return subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=False
        ).stdout

    assert "plain,import" in completed("worldline im")
    assert "plain,chatgpt" in completed("worldline import chatg")
