"""The public names: what `worldline` offers, and what a Memory can do."""

import importlib
import inspect
import subprocess
import sys

import pytest

import worldline
from worldline import Memory, Query, errors

VERBS = {
    "absorb", "accept_merge", "amend", "as_agent", "at", "backup", "changes", "close", "confirm", "conflicts",
    "consolidate", "context", "correct", "density", "diff", "drop_scorer", "edge", "enter", "episodes",
    "equivalence_class",
    "explain", "export",
    "export_identity", "fact", "feedback", "flush", "get", "hash", "history", "import_", "link", "list",
    "ailments", "forget", "reindex",
    "load", "merges", "note", "open", "pin", "profile", "quarantine", "query", "readers", "recall", "reembed",
    "register", "reject_merge", "remember", "reread", "resume", "retire", "scoped", "score_with",
    "confined",
    "shared_with", "split", "stats", "timeline", "undo", "undo_merge", "unpin", "verify", "walk", "walk_answer",
    "why", "worlds",
}  # fmt: skip
QUERY_VERBS = {
    "at", "during", "explain", "follow", "include_superseded", "limit", "prefer_summaries", "run", "seeds", "text",
    "where", "where_connected", "within",
}  # fmt: skip


def methods(class_: type) -> set[str]:
    """The public methods of a class."""
    return {
        name
        for name in dir(class_)
        if not name.startswith("_") and inspect.isroutine(inspect.getattr_static(class_, name))
    }


@pytest.mark.parametrize("name", worldline.__all__)
def test_public_names_are_there_and_documented(name: str) -> None:
    """Every public name can be imported and says what it is."""
    item = getattr(importlib.import_module("worldline"), name)

    assert name == "FOREVER" or inspect.getdoc(item)
    assert name in dir(worldline)


def test_lazy_table_matches_the_public_names() -> None:
    """The table of lazily imported names is exactly the public list."""
    assert sorted(n for names in worldline._HOMES.values() for n in names) == sorted(worldline.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        worldline.nonsense  # noqa: B018


def test_importing_the_package_loads_no_engine() -> None:
    """`import worldline` is free; the engine comes with the first name used."""
    code = "import sys, worldline; print(*[m for m in ('apsw', 'msgspec', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


def test_memory_has_exactly_these_verbs() -> None:
    """A new verb of Memory is a decision: it joins this list and the reference."""
    assert methods(Memory) == VERBS
    assert methods(Query) == QUERY_VERBS


@pytest.mark.parametrize("class_", [Memory, Query], ids=lambda c: c.__name__)
def test_verbs_are_documented_and_typed(class_: type) -> None:
    """Each public method has a docstring, and types for everything it takes and returns."""
    for name in methods(class_):
        signature = inspect.signature(getattr(class_, name))
        assert inspect.getdoc(getattr(class_, name)), name
        assert signature.return_annotation is not signature.empty, name
        untyped = [p for p in signature.parameters.values() if p.annotation is p.empty and p.name != "self"]
        assert untyped == [], name


def test_the_package_is_typed() -> None:
    """Type checkers of users see our types."""
    package = importlib.import_module("importlib.resources").files("worldline")

    assert package.joinpath("py.typed").is_file()


def test_errors_are_one_tree_drawn_in_the_docstring() -> None:
    """Every exception descends from WorldlineError and is drawn in the module's docstring."""
    drawn = errors.__doc__ or ""
    for name, item in vars(errors).items():
        if inspect.isclass(item) and issubclass(item, Exception):
            assert issubclass(item, worldline.WorldlineError)
            assert f" {name} " in drawn or name == "WorldlineError"
