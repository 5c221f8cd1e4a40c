"""A real Chromium, and a server with a story to look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from serving import running
from worldline import Fact, Memory
from worldline.testing import FrozenClock

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
DAY = 86_400_000_000
START = 1_767_225_600_000_000
"""2026-01-01, when this memory begins to learn."""
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
NASTY = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def chromium() -> str:
    """The browser that this machine has."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return pytest.fail("no Chromium here: `make browser` installs Debian's, as root")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module (its event loop must not outlive it); each test has its own context."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), headless=True, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with a story: a change, a conflict, a move, a world, a merge proposal, and hostile text."""
    path, clock = str(tmp_path_factory.mktemp("explorer") / "me.db"), FrozenClock(START)
    with Memory.open(path, clock=clock) as memory:
        _tell(memory, clock)
    return path


def _tell(memory: Memory, clock: FrozenClock) -> None:
    def link(src: Any, type_: str, dst: Any) -> None:
        memory.link(src.id, type_, dst.id, valid_from="2026-02-01")

    acme = memory.note(
        "project", "Acme contract", "tier: silver, renewed every January", valid_from="2026-01-01"
    )
    budget = memory.note(
        "context", "Hosting budget", "Hosting may cost 40,000 euros.", valid_from="2026-01-10"
    )
    clock.advance(10 * DAY)
    finance = memory.note(
        "context", "Finance's budget", "Hosting may cost 30,000 euros.", valid_from="2026-01-12"
    )
    old = memory.note("reference", "Price list 2025", "Gold costs 900 a month.", valid_from="2025-06-01")
    new = memory.note("reference", "Price list 2026", "Gold costs 1,100 a month.", valid_from="2026-01-01")
    link(finance, "contradicts", budget)
    link(acme, "relates_to", budget)
    link(acme, "relates_to", new)
    memory.link(new.id, "supersedes", old.id)
    clock.advance(50 * DAY)
    memory.amend(
        acme.id, "tier: gold, renewed every January", valid_from="2026-03-01", reason="they upgraded"
    )
    moved = Fact("Bo", "lives in", "Porto", functional=True)
    memory.remember("Bo lives in Porto now.", speaker="Ana", said_at="2026-03-02T09:00+01:00", facts=[moved])
    clock.advance(60 * DAY)
    again = Fact("Bo", "lives in", "Rome", functional=True)
    memory.remember("Bo has moved to Rome.", speaker="Ana", said_at="2026-05-02T09:00+02:00", facts=[again])
    world = memory.note("project", "Migration", "Moving the store to new servers.", valid_from="2026-02-01")
    memory.enter(world.id).note("learning", "Backups first", "Take a backup before each step.")
    ana, anna = (
        memory.note("user", "Anna Keller", "Leads the project."),
        memory.note("user", "A. Keller", "The lead."),
    )
    memory.link(ana.id, "same_as", anna.id)
    memory.note("learning", f"hostile {NASTY}", f"Beware of this: {NASTY}", metadata={"x": NASTY})
    memory.scoped(user="zoe").note("user", "Zoe's tea", "Zoe drinks green tea.")


@pytest.fixture(scope="module")
def url(db: str) -> Iterator[str]:
    """A server on that store."""
    with running(db) as address:
        yield address


@pytest.fixture(scope="module")
def wide(browser: Browser) -> Iterator[Page]:
    """One tab of the size of a desk; a new one for each test would cost most of its time."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture
def page(wide: Page, url: str) -> Iterator[Page]:
    """The explorer, loaded; a fault in its scripts fails the test."""
    yield from loaded(wide, url)


def opened(browser: Browser, url: str, **how: Any) -> Iterator[Page]:
    """A page in a fresh context."""
    context = browser.new_context(**how)
    yield from loaded(context.new_page(), url)
    context.close()


def loaded(page: Page, url: str) -> Iterator[Page]:
    """The explorer in a tab, as if it had just been opened; a fault in its scripts fails the test."""
    faults: list[str] = []
    page.set_default_timeout(20_000)
    page.unroute_all()
    page.goto("about:blank")

    def note(error: object) -> None:
        faults.append(str(error))

    page.on("pageerror", note)
    page.goto(url)
    ready(page)
    yield page
    page.remove_listener("pageerror", note)
    assert faults == []


def ready(page: Page) -> None:
    """Waits until nothing is being loaded."""
    page.wait_for_selector("#panel[aria-busy=false]")


def shot(page: Page, name: str, **how: Any) -> None:
    """Keeps a screenshot."""
    page.screenshot(path=SCREENSHOTS / f"{name}.png", **how)
