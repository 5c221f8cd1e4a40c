"""The documents: their code runs, their names exist, their generated parts are up to date."""

import doctest
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import warm
from worldline import Config, Memory
from worldline.store import schema
from worldline.surfaces.cli import ALIASES, VERBS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
SOURCE = ROOT / "src" / "worldline"
DOCTESTED = sorted(
    path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


def page_name(path: Path) -> str:
    """A page's path inside the project."""
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, language: str) -> list[str]:
    """The code blocks of one language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text("utf-8"), re.S | re.M)


def generator() -> ModuleType:
    """The program that writes the generated pages."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "python")], ids=page_name)
def test_python_blocks_run(path: Path) -> None:
    """Every Python block of a page runs, one after the other."""
    names: dict[str, object] = {"__name__": "docs"}
    for number, block in enumerate(blocks(path, "python"), 1):
        exec(compile(block, f"{path.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_links_lead_somewhere(path: Path) -> None:
    """Every relative link on a page leads to a file."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf-8"))

    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Every page is in the navigation, and every link and anchor inside the site leads somewhere."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    assert built.returncode == 0, built.stderr
    pages = {
        page.relative_to(tmp_path / "site").with_suffix(".md") for page in (tmp_path / "site").rglob("*.html")
    }
    written = {page.relative_to(DOCS) for page in DOCS.rglob("*.md") if page.name != "README.md"}
    assert written <= pages


@pytest.mark.parametrize("path", PAGES, ids=page_name)
def test_shell_examples_use_real_verbs(path: Path) -> None:
    """Every `worldline VERB` in an example exists."""
    verbs = {name for group in VERBS.values() for name in group} | set(ALIASES)
    examples = "\n".join([*blocks(path, "sh"), *blocks(path, "console")])

    assert set(re.findall(r"\bworldline ([a-z]+)", examples)) <= verbs


def test_the_readme_is_short_and_has_a_picture() -> None:
    """At most 150 lines, one picture of the explorer, below 300 kB."""
    text = (ROOT / "README.md").read_text("utf-8")
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)

    assert len(text.splitlines()) <= 150
    assert (ROOT / picture).stat().st_size < 300_000
    assert (ROOT / picture).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_generated_pages_are_up_to_date() -> None:
    """The reference, the coverage table and the test vectors are what the program says today."""
    assert generator().stale() == [], "run: python docs/generate.py"


def test_every_table_is_documented() -> None:
    """The page about the format names every table of the schema."""
    page = (DOCS / "format.md").read_text("utf-8")
    tables = schema.TABLES

    assert [table for table in tables if f"`{table}`" not in page] == []


def test_every_command_and_option_is_documented() -> None:
    """The shell's reference has a heading for every verb."""
    page = (DOCS / "reference" / "cli.md").read_text("utf-8")

    assert [name for group in VERBS.values() for name in group if f"### worldline {name}" not in page] == []


def test_every_dependency_has_its_reason() -> None:
    """Each dependency of the project is named on a page of decisions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [item for items in project["optional-dependencies"].values() for item in items]
    names = {re.split(r"[<>=\[ ]", item)[0].lower() for item in [*project["dependencies"], *extras]}
    told = "\n".join(p.read_text("utf-8") for p in (DOCS / "decisions").glob("*.md")).lower()

    assert [name for name in sorted(names - {"worldline"}) if name not in told] == []


def test_all_extras_are_in_all() -> None:
    """The extra `all` has every extra for users."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras["all"]

    assert set(everything.split("[")[1].rstrip("]").split(",")) == set(extras) - {"all", "dev"}


def test_every_decision_is_listed() -> None:
    """The index of decisions links every page."""
    index = (DOCS / "decisions" / "README.md").read_text("utf-8")

    assert [
        p.name for p in (DOCS / "decisions").glob("*.md") if p.name != "README.md" and p.name not in index
    ] == []


def test_the_tour_names_real_things() -> None:
    """Every dotted name on the tour can be imported."""
    for name in sorted(set(re.findall(r"`(worldline(?:\.\w+)+)`", (DOCS / "tour.md").read_text("utf-8")))):
        assert _exists(name), name


def _exists(name: str) -> bool:
    return _item(name) is not None


def _item(name: str) -> Any:
    """What a dotted name stands for."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            item: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            item = getattr(item, part, None)
        return item
    return None


OTHERWISE = {
    "worldline.reading.fields.claims_of_fields",
    "worldline.reading.families.relation",
    "worldline.rules.changes.ended_by",
    "worldline.rules.slots.corrects",
    "worldline.read.answers.walk",
    "worldline.write.given.believe",
    "worldline.write.given.not_given",
    "worldline.write.remember.resume",
    "worldline.write.afterwards.reread",
}
"""Steps that the tour names for what would happen in another case."""


def test_the_walks_of_the_tour_go_that_way() -> None:
    """Every function that a walk of the tour names is really called on it."""
    walks = re.findall(
        r"^## One \w+: `([^\n]*)`\n(.*?)(?=^## |\Z)", (DOCS / "tour.md").read_text("utf-8"), re.M | re.S
    )
    with Memory.open(":memory:", Config(embedder="none")) as m:
        contract = m.note("context", "Acme contract", "tier: silver", valid_from="2026-01-01")
        untrodden = [
            f"{verb}: {name}" for verb, told in walks for name in _untrodden(verb, told, m, contract)
        ]

    assert len(walks) == 5
    assert untrodden == []


def _untrodden(verb: str, told: str, m: Memory, contract: Any) -> list[str]:
    """The functions that a walk names and does not come by."""
    called = set()

    def note(frame: Any, event: str, arg: object) -> None:
        if event == "call":
            called.add(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}")

    sys.setprofile(note)
    try:
        eval(verb, {"m": m, "contract": contract})
    finally:
        sys.setprofile(None)
    named = {name: inspect.unwrap(_item(name)) for name in re.findall(r"`(worldline(?:\.\w+)+)`", told)}
    return [
        name
        for name, item in named.items()
        if inspect.isfunction(item) and f"{item.__module__}.{item.__qualname__}" not in called
        if name not in OTHERWISE
    ]


def test_the_glossary_is_in_order() -> None:
    """Terms are in alphabetical order, each once."""
    terms = re.findall(r"^- \*\*([^*]+)\*\*", (DOCS / "glossary.md").read_text("utf-8"), re.M)

    assert terms == sorted(set(terms))


@pytest.mark.parametrize("name", DOCTESTED)
def test_examples_in_docstrings(name: str) -> None:
    """The examples in module docstrings are true."""
    assert doctest.testmod(importlib.import_module(f"worldline.{name}")).failed == 0


def test_the_demo_tells_the_same_story_every_time() -> None:
    """The demo runs, answers both questions about the 3rd, and is deterministic."""
    runs = [
        subprocess.run(
            [*python, ROOT / "examples" / "demo.py"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        for python in ([sys.executable], warm.python())
    ]

    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stderr == ""
    assert re.search(r"believe on the 3rd\?\s+tier: silver", runs[0].stdout)
    assert re.search(r"true on the 3rd, .*\s+tier: gold", runs[0].stdout)
    assert "verify: ok" in runs[0].stdout


def test_documents_name_no_machine() -> None:
    """No page has a path of somebody's machine."""
    for path in PAGES:
        assert not re.search(r"(?:^|[\s`(\"])/(?:home|root|tmp|work|Users)/", path.read_text("utf-8")), path


def test_ci_runs_make_test() -> None:
    """Continuous integration runs `make test`, and nothing else."""
    script = ROOT / ".ci" / "run"

    assert script.stat().st_mode & 0o111
    assert script.read_text("utf-8").strip().endswith("exec make test")
