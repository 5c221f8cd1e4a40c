"""The shape of the code: sizes, names and habits that must not get worse."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "worldline"
LARGEST_FILE = 900
LONGEST_FUNCTION = 80
LARGER: dict[str, int] = {}
"""Files that are larger today, with a ceiling each. Lower a ceiling or remove a line; never add one."""
BANNED_NAMES = {"utils", "helpers", "common", "manager", "factory", "misc"}
MAY_PRINT = ("surfaces/", "bench/")
ENGINES = re.compile(r"psycopg|pg_catalog|citus|::bigint")

MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    """A module's path inside the package."""
    return path.relative_to(SOURCE).as_posix()


class Function(NamedTuple):
    """A function of a module, nested ones too."""

    name: str
    lines: int
    documented: bool
    imports: tuple[int, ...]
    """The lines at which it imports something of this package."""


class Shape(NamedTuple):
    """What is asked about a module, without its tree: that of the whole package is large."""

    docstrings: tuple[str, ...]
    """The module's own first."""
    functions: tuple[Function, ...]
    classes: tuple[str, ...]
    prints: bool


@cache
def shape(path: Path) -> Shape:
    """A module, looked at once."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    documented = [node for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return Shape(
        tuple(ast.get_docstring(node) or "" for node in documented),
        tuple(_function(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)),
        tuple(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        any(isinstance(call, ast.Name) and call.id == "print" for call in calls),
    )


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    imports = (inner for inner in ast.walk(node) if isinstance(inner, ast.ImportFrom))
    own = tuple(inner.lineno for inner in imports if (inner.module or "").startswith("worldline"))
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    return Function(node.name, lines, bool(ast.get_docstring(node)), own)


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
        f"{name_of(path)}:{f.name} ({f.lines})"
        for path in MODULES
        for f in shape(path).functions
        if f.lines > LONGEST_FUNCTION
    ]

    assert too_long == []


def test_no_module_is_a_drawer() -> None:
    """A module is named for what it does; there is no utils."""
    assert [name_of(p) for p in MODULES if set(p.stem.split("_")) & BANNED_NAMES] == []


def test_every_module_says_what_it_is() -> None:
    """Each module has a docstring, and no row numbers of a specification."""
    numbered = {}
    for path in MODULES:
        comments = [line.partition("#")[2] for line in path.read_text("utf-8").splitlines() if "#" in line]
        told = "\n".join([*comments, *shape(path).docstrings])
        numbered[name_of(path)] = re.findall(r"\b(?:SPEC|[A-H]\d{1,2}b?)\b(?=[ ,.:;)])", told)

    assert [name_of(path) for path in MODULES if not shape(path).docstrings[0]] == []
    assert {name: rows for name, rows in numbered.items() if rows} == {}


def test_few_modules_are_imported_inside_functions() -> None:
    """What a module needs is said at its top; what is heavy is named there too, and loaded later."""
    inside = [
        f"{name_of(path)}:{line}"
        for path in MODULES
        for function in shape(path).functions
        for line in function.imports
    ]

    assert len(inside) <= 10, inside


def test_one_name_one_class() -> None:
    """No two classes of the package have one name: whoever reads it knows which is meant."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        for name in shape(path).classes:
            homes.setdefault(name, []).append(name_of(path))

    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_only_surfaces_print() -> None:
    """The engine never prints."""
    printing = [
        name_of(path) for path in MODULES if not name_of(path).startswith(MAY_PRINT) and shape(path).prints
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
        if ENGINES.search(path.read_text("utf-8"))
        for found in set(ENGINES.findall(_code(path)))
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
        for f in shape(path).functions
        if f.name.startswith("test_") and not f.documented
    ]

    assert silent == []
