"""Sleep and what it finds, from the shell and in a server's background."""

import json
import time

import pytest
from click.testing import CliRunner

from serving import rest, running
from worldline import Config, Fact, Memory
from worldline.surfaces.cli import main


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Runs a command line on a small store; the output."""
    path = tmp_path / "m.db"
    monkeypatch.setenv("WORLDLINE_EMBEDDER", "none")
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.remember("I lost my job at the mill.", speaker="Ines", session="s", said_at="2026-03-01")
        memory.remember(
            "We moved because I lost my job at the mill.", speaker="Ines", session="s", said_at="2026-03-02"
        )
        for town in ("Oslo", "Bergen"):
            memory.fact(Fact("Dana", "lives_in", town, functional=True, valid_from="2026-01-01"))

    def run(*args, code=0):
        done = CliRunner().invoke(main, [*args, "--db", str(path)])
        assert done.exit_code == code, done.output
        return done.output

    return run


@pytest.mark.parametrize("verb", ["sleep", "consolidate"])
def test_a_night_from_the_shell(shell, verb):
    """A dry night says what would change; a real one changes it; another one finds nothing to do."""
    assert "would change" in shell(verb, "--dry-run")
    assert "nothing here" in shell("list", "--type", "Happening")
    told = shell(verb)
    assert "put Happening" in told
    assert "things changed" in told
    assert shell(verb).rstrip().endswith("nothing changed")
    night = json.loads(shell(verb, "--json"))
    assert not night["dry_run"]
    assert all(not done["changes"] for done in night["passes"])


def test_chosen_passes(shell):
    """Passes are listed, and run by name; a wrong name is said with the right ones."""
    names = [line.split()[0] for line in shell("sleep", "--list").splitlines()]
    assert names[0] == "uses"
    assert "topics" in names
    assert json.loads(shell("sleep", "--list", "--json")).keys() == set(names)
    done = json.loads(shell("sleep", "--pass", "chains", "--json"))
    assert {each["name"] for each in done["passes"]} == {"chains"}
    assert "topics" in shell("sleep", "--pass", "nonsense", code=1)


def test_what_sleep_finds(shell):
    """People, episodes and conflicts can be looked at."""
    shell("sleep")
    told = shell("profile", "Ines")
    assert "what led to what" in told
    assert "lost my job" in told
    assert json.loads(shell("profile", "Ines", "--json"))["name"] == "Ines"
    assert "nobody here is called" in shell("profile", "Nemo", code=1)
    assert len(json.loads(shell("episodes", "--json"))) == 2
    assert "Dana" in shell("conflicts")
    assert {conflict["entity"] for conflict in json.loads(shell("conflicts", "--json"))} == {"Dana"}


def test_a_server_sleeps_in_the_background(tmp_path):
    """`serve --sleep-every` thinks over what comes in, while it goes on serving, and ends when told to."""
    with running(str(tmp_path / "m.db"), "--sleep-every", "0.005") as url, rest(url) as client:
        client.post(
            "remember",
            {"text": "We moved because I lost my job.", "speaker": "Ines", "said_at": "2026-03-01"},
        )
        for _ in range(200):
            found = client.get("memories", type="Happening")["items"]
            if found:
                break
            time.sleep(0.05)

        assert {item["name"] for item in found} == {"Ines: I lost my job", "Ines: we moved"}
        assert client.get("verify")["ok"]
