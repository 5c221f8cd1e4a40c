"""Settings: defaults, file, environment, and no silent typos."""

from __future__ import annotations

import pytest

from worldline import Memory
from worldline.config import Config, default_path, load
from worldline.errors import InvalidInput, UnknownType, WorldlineError


def test_defaults():
    """Without a file and variables the defaults hold."""
    assert load(environ={}) == Config()


def test_file_then_environment(tmp_path):
    """The environment wins over the file, the file over the defaults."""
    path = tmp_path / "w.toml"
    path.write_text('language = "german"\nmax_text = 5\n[thresholds]\nlegal = 0.8\n')
    found = load(path, {"WORLDLINE_MAX_TEXT": "7"})
    assert (found.language, found.max_text, found.thresholds) == ("german", 7, {"legal": 0.8})
    assert load(environ={"WORLDLINE_CONFIG": str(path)}).language == "german"


def test_an_unknown_variable_is_an_error():
    """A typo must not silently change nothing; the message lists the settings."""
    with pytest.raises(UnknownType, match="prefix_length"):
        load(environ={"WORLDLINE_PREFIX_LENGHT": "9"})


def test_an_unknown_setting_in_a_file_is_an_error(tmp_path):
    """The same for a file."""
    path = tmp_path / "w.toml"
    path.write_text("colour = 1")
    with pytest.raises(UnknownType, match="colour"):
        load(path, {})


@pytest.mark.parametrize("text", ["max_text = 'many'", "= broken", "durability = 'sometimes'"])
def test_bad_values_are_errors(tmp_path, text):
    """Wrong types, unknown choices and broken TOML are InvalidInput."""
    path = tmp_path / "w.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput):
        load(path, {})


def test_a_missing_file_is_an_error(tmp_path):
    """A settings file that was named must be there."""
    with pytest.raises(WorldlineError):
        load(tmp_path / "nowhere.toml", {})


def test_a_file_that_is_no_text_is_an_error(tmp_path):
    """Bytes that are no UTF-8 are refused with the file's name."""
    path = tmp_path / "w.toml"
    path.write_bytes(b'language = "\xff"')
    with pytest.raises(InvalidInput, match=r"w\.toml"):
        load(path, {})


def test_variables_of_the_command_line_are_no_settings():
    """The store, the settings file and the tenant are named by variables of their own."""
    assert load(environ={"WORLDLINE_DB": "x", "WORLDLINE_TENANT": "t", "OTHER": "1"}) == Config()


def test_the_default_path():
    """WORLDLINE_DB, else the XDG data folder."""
    assert str(default_path({"WORLDLINE_DB": "/x/y.db"})) == "/x/y.db"
    assert str(default_path({"XDG_DATA_HOME": "/data"})) == "/data/worldline/memory.db"


@pytest.mark.parametrize(
    "wrong",
    [
        {"understand": "zzz"},
        {"gate": "zzz"},
        {"durability": "sometimes"},
        {"max_text": "many"},
        {"embedder": "zzz"},
        {"reranker": "zzz"},
        {"model": "zzz"},
        {"language": "zzz"},
    ],
)
def test_a_memory_is_not_opened_with_bad_settings(wrong, monkeypatch):
    """Values that are no settings are refused when a memory is opened, whether Python or a variable gives them."""
    ((name, value),) = wrong.items()
    with pytest.raises(InvalidInput, match=value if value != "many" else name):
        Memory.open(":memory:", Config(**wrong))
    monkeypatch.setenv(f"WORLDLINE_{name.upper()}", value)
    with pytest.raises(InvalidInput):
        Memory.open(":memory:")
