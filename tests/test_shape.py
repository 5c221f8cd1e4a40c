"""The shape of the code: sizes, names and habits that must not get worse."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "worldline"
LARGEST_FILE = 900
LONGEST_FUNCTION = 80
LARGER: dict[str, int] = {}
"""Files that are larger today, with a ceiling each. Lower a ceiling or remove a line; never add one."""
BANNED_NAMES = {"utils", "helpers", "common", "manager", "factory", "misc"}
MAY_PRINT = ("surfaces/", "bench/")

MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    """A module's path inside the package."""
    return path.relative_to(SOURCE).as_posix()


@cache
def parsed(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a module."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, nested ones too."""
    for node in parsed(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_files_stay_small() -> None:
    """No file passes 900 lines, apart from a list that can only shrink."""
    sizes = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    too_large = {n: s for n, s in sizes.items() if s > LARGER.get(n, LARGEST_FILE)}
    no_longer_large = [n for n in LARGER if sizes.get(n, 0) <= LARGEST_FILE]

    assert too_large == {}
    assert no_longer_large == [], "take these off the list LARGER"


def test_functions_stay_short() -> None:
    """No function passes 80 lines, docstring included."""
    too_long = [
        f"{name_of(path)}:{f.name} ({f.end_lineno - f.lineno + 1})"
        for path in MODULES
        for f in functions(path)
        if f.end_lineno is not None and f.end_lineno - f.lineno + 1 > LONGEST_FUNCTION
    ]

    assert too_long == []


def test_no_module_is_a_drawer() -> None:
    """A module is named for what it does; there is no utils."""
    assert [name_of(p) for p in MODULES if set(p.stem.split("_")) & BANNED_NAMES] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_what_it_is(path: Path) -> None:
    """Each module has a docstring, and no row numbers of a specification."""
    text = path.read_text("utf-8")

    assert ast.get_docstring(ast.parse(text))
    assert re.findall(r"\b(?:SPEC|[A-H]\d{1,2}b?)\b(?=[ ,.:;)])", _comments_and_docstrings(text)) == []


def _comments_and_docstrings(text: str) -> str:
    comments = [line.partition("#")[2] for line in text.splitlines() if "#" in line]
    tree = ast.walk(ast.parse(text))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in tree if isinstance(node, documented)]
    return "\n".join([*comments, *docstrings])


def test_few_modules_are_imported_inside_functions() -> None:
    """What a module needs is said at its top; what is heavy is named there too, and loaded later."""
    inside = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("worldline")
    ]

    assert len(inside) <= 10, inside


def test_one_name_one_class() -> None:
    """No two classes of the package have one name: whoever reads it knows which is meant."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parsed(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name_of(path))

    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_only_surfaces_print() -> None:
    """The engine never prints."""
    printing = [
        name_of(path)
        for path in MODULES
        if not name_of(path).startswith(MAY_PRINT)
        for node in parsed(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]

    assert printing == []


def test_sql_stays_in_the_store() -> None:
    """Only the store talks to SQLite."""
    importing = [
        name_of(path)
        for path in MODULES
        if re.search(r"^\s*(?:import|from) (?:apsw|sqlite3)\b", path.read_text("utf-8"), re.M)
    ]

    assert [name for name in importing if not name.startswith(("store/", "bench/", "surfaces/care"))] == []


def test_one_store_knows_the_other_engine() -> None:
    """What differs between engines is in two modules; no other one names an engine or a dialect of SQL."""
    named = [
        f"{name_of(path)}: {found}"
        for path in MODULES
        if name_of(path)
        not in ("store/dialect.py", "store/postgres.py", "surfaces/care.py")  # it lists extras
        for found in set(re.findall(r"psycopg|pg_catalog|citus|::bigint", _code(path)))
    ]

    assert named == []


def _code(path: Path) -> str:
    """A module without its docstrings and comments."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def test_every_test_says_what_it_shows() -> None:
    """Each test has a docstring of one sentence."""
    silent = [
        f"{path.name}:{f.name}"
        for path in sorted(Path(__file__).parent.rglob("test_*.py"))
        for f in functions(path)
        if f.name.startswith("test_") and not ast.get_docstring(f)
    ]

    assert silent == []
