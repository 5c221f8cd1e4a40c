"""The explorer in a real browser: one test for each thing that it promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import NASTY, opened, ready, shot
from serving import rest, running


def ask(page: Page, question: str) -> None:
    """Searches, and waits for the answer and for the graph of the best hit."""
    page.fill("#q", question)
    page.press("#q", "Enter")
    page.wait_for_selector("#panel[aria-busy=false] .hit")
    page.wait_for_selector("#detail[aria-busy=false]")


def tab(page: Page, name: str) -> None:
    """Opens a view."""
    page.click(f"#tab-{name}")
    ready(page)


def slide(page: Page, axis: str, to: int) -> None:
    """Moves a slider, and waits for what follows from it."""
    page.evaluate("""([axis, to]) => { const s = document.getElementById(axis); s.value = to;
        s.dispatchEvent(new Event("input", { bubbles: true })); }""", [axis, to])  # fmt: skip
    page.wait_for_timeout(250)
    ready(page)


def moment(page: Page, axis: str, date: str) -> int:
    """Where on a slider a date lies."""
    place = """async ([axis, date]) => {
        const span = (await (await fetch("/v1/span")).json())[axis], first = Date.parse(span.from);
        const last = axis === "valid" ? Math.max(Date.parse(span.to), Date.now()) : Date.parse(span.to);
        const wide = last - first, from = first - wide / 50, to = last + (axis === "known" ? wide / 50 : 0);
        return Math.ceil(1000 * (Date.parse(date) - from) / (to - from)); }"""
    return int(page.evaluate(place, [axis, date]))


def test_search_shows_hits_lanes_factors_and_words(page: Page) -> None:
    """A question gives hits with their lanes, factors and verbatim text, and the plan behind them."""
    ask(page, "Which tier is Acme on?")
    best = page.locator(".hit").first

    expect(best.locator("blockquote")).to_have_text("tier: gold, renewed every January")
    expect(best.locator(".chip").first).to_contain_text("words #1")
    assert best.locator(".factors .meter").count() >= 3
    page.click("summary:has-text('How it was found')")
    expect(page.locator(".trace")).to_contain_text("lane words")
    shot(page, "search")


def test_the_words_behind_a_fact(page: Page) -> None:
    """A fact shows the words that it rests on, and every belief ever held."""
    tab(page, "list")
    page.select_option("#panel select", "Fact")
    ready(page)
    page.click("#panel .name:has-text('Bo lives in Rome')")

    expect(page.locator("#detail blockquote").first).to_contain_text("Bo has moved to Rome.")
    expect(page.locator("#detail .history")).to_contain_text("put")
    shot(page, "evidence")


def test_graph_shows_supersession_and_contradiction(page: Page) -> None:
    """The graph around a memory shows its former version and open conflicts apart from other edges."""
    ask(page, "Which tier is Acme on?")
    expect(page.locator("#graph .edge.supersedes")).to_have_count(1)
    assert page.locator("#graph .node.ghost").count() >= 1
    shot(page, "graph-supersession")

    page.locator("#graph .node", has_text="Hosting budget").click()
    expect(page.locator("#graph .node.centre text")).to_have_text("Hosting budget")
    expect(page.locator("#graph .edge.contradicts")).to_have_count(1)
    expect(page.locator("#detail .head b").first).to_have_text("Hosting budget")
    shot(page, "graph-contradiction")
    page.click("#back")
    expect(page.locator("#graph .node.centre text")).to_have_text("Acme contract")
    page.click("#deeper")
    expect(page.locator("#graph .node", has_text="Finance's budget")).to_have_count(1)


def test_graph_pans_and_zooms(page: Page) -> None:
    """Dragging moves the graph, the wheel and the buttons zoom it, and Fit brings it back."""
    ask(page, "Which tier is Acme on?")
    stage = page.locator("#graph > g")
    page.wait_for_selector("#graph > g[transform]")
    first = stage.get_attribute("transform")
    box = page.locator("#graph").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 12, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 240, steps=4)
    page.mouse.up()
    panned = stage.get_attribute("transform")
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "was => document.querySelector('#graph > g').getAttribute('transform') !== was", arg=panned
    )
    zoomed = stage.get_attribute("transform")
    page.click("#fit")

    assert len({first, panned, zoomed}) == 3
    assert stage.get_attribute("transform") == first


def test_timeline_shows_when_each_memory_held(page: Page) -> None:
    """The timeline has a row for each memory, its versions one after the other, in order."""
    tab(page, "timeline")
    rows = page.locator(".tl-row")
    names = rows.locator(".name").all_text_contents()

    assert names[0] == "Price list 2025"
    assert names.index("Acme contract") < names.index("Bo lives in Porto") < names.index("Bo lives in Rome")
    acme = page.locator(".tl-row", has_text="Acme contract")
    assert acme.locator(".tl-bar.over").count() == 1
    assert acme.locator(".tl-bar.open").count() == 1
    shot(page, "timeline")
    acme.locator(".name").click()
    expect(page.locator("#graph .node.centre text")).to_have_text("Acme contract")


def test_time_machine_on_both_axes(page: Page) -> None:
    """Each slider re-renders search, graph and list as of its moment, and now is one click away."""
    ask(page, "Which tier is Acme on?")
    best = page.locator(".hit", has_text="Acme contract").locator("blockquote")
    expect(best).to_have_text("tier: gold, renewed every January")

    slide(page, "valid", moment(page, "valid", "2026-02-15"))
    expect(best).to_have_text("tier: silver, renewed every January")
    expect(page.locator("#graph .edge.supersedes")).to_have_count(0)
    expect(page.locator("#valid-told")).to_contain_text("2026-02-1")
    shot(page, "time-machine-valid")

    slide(page, "valid", moment(page, "valid", "2026-03-15"))
    expect(best).to_have_text("tier: gold, renewed every January")
    slide(page, "known", moment(page, "known", "2026-02-20"))
    expect(best).to_have_text("tier: silver, renewed every January")
    expect(page.locator(".hit .badge.over")).to_have_count(0)
    expect(page.locator("#graph .node.centre text")).to_have_text("Acme contract")
    expect(page.locator("#detail blockquote").first).to_have_text("tier: silver, renewed every January")
    shot(page, "time-machine-known")
    slide(page, "known", 1)
    expect(page.locator("#detail")).to_contain_text("Not known at that moment")
    slide(page, "known", moment(page, "known", "2026-02-20"))
    tab(page, "list")
    expect(page.locator("#panel")).not_to_contain_text("Migration")

    page.click("#now")
    ready(page)
    expect(page.locator("#panel")).to_contain_text("Migration")
    expect(page.locator("#known-told")).to_have_text("now")
    assert not page.evaluate("document.body.classList.contains('past')")


def test_list_with_retired_and_scopes(page: Page) -> None:
    """The list can show what is over, and one user's memories alone."""
    tab(page, "list")
    expect(page.locator("#panel .card")).not_to_have_count(0)
    expect(page.locator("#panel")).not_to_contain_text("Price list 2025")
    page.check("#retired")
    ready(page)
    expect(page.locator("#panel .card", has_text="Price list 2025").locator(".badge.over")).to_have_count(1)
    shot(page, "list")
    page.select_option("#scope", "user:zoe")
    expect(page.locator("#panel .card .name")).to_have_text(["Zoe's tea"])


def test_merges_are_accepted_rejected_and_undone(page: Page, url: str) -> None:
    """A proposal can be accepted, the decision undone, and the store says so."""
    expect(page.locator("#merge-count")).to_have_text("1")
    tab(page, "merges")
    shot(page, "merges")
    page.click("button:has-text('Accept')")
    expect(page.locator(".merge .badge")).to_have_text("accepted")
    expect(page.locator("#merge-count")).to_have_text("")
    with rest(url) as api:
        assert [m["proposal"]["status"] for m in api.get("merges", status="all")] == ["accepted"]
        page.click("button:has-text('Undo')")
        expect(page.locator(".merge .badge")).to_have_text("undone")
        a, b = (api.post("notes", {"type": "user", "name": name})["id"] for name in ("Bo", "Boris"))
        api.post("links", {"src": a, "type": "same_as", "dst": b})
    tab(page, "merges")
    page.click("button:has-text('Reject')")
    expect(page.locator(".merge", has_text="Boris").locator(".badge")).to_have_text("rejected")


def test_worlds_have_their_hashes(page: Page, url: str) -> None:
    """Every world is listed with its whole hash, and so is everything."""
    tab(page, "worlds")
    with rest(url) as api:
        worlds = api.get("worlds")

    expect(page.locator("#panel .hash").first).to_have_text(worlds["hash"])
    shown = page.locator(".world", has_text="Migration").locator(".hash")
    expect(shown).to_have_text(next(w["hash"] for w in worlds["worlds"] if w["node"]["name"] == "Migration"))
    shot(page, "worlds")


def test_stored_text_is_never_markup(page: Page) -> None:
    """Hostile names, contents and metadata are shown as text in every view."""
    ask(page, "Beware of this hostile text")
    expect(page.locator(".hit blockquote").first).to_have_text(f"Beware of this: {NASTY}")
    for name in ("list", "timeline", "worlds", "merges"):
        tab(page, name)

    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script").count() == 0


def test_keyboard_alone_is_enough(page: Page) -> None:
    """Search, tabs, sliders and the graph work without a mouse."""
    page.keyboard.press("/")
    page.keyboard.type("Which tier is Acme on?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel[aria-busy=false] .hit")
    page.wait_for_selector("#graph .node.centre")

    page.focus("#graph")
    before = page.locator("#graph > g").get_attribute("transform")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    assert page.locator("#graph > g").get_attribute("transform") != before
    page.locator("#graph .node", has_text="Hosting budget").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#graph .node.centre text")).to_have_text("Hosting budget")

    page.focus("#tab-search")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-list")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#tab-list")).to_be_focused()
    page.focus("#valid")
    page.keyboard.press("PageDown")
    expect(page.locator("#valid-told")).not_to_have_text("now")
    named = "e.textContent.trim() || e.ariaLabel || e.title || e.labels?.length"
    controls = '[...document.querySelectorAll("button, input, select")]'
    unnamed = page.evaluate(f"{controls}.filter(e => !({named})).length")
    assert unnamed == 0


def test_dark_and_on_a_phone(browser: Browser, url: str) -> None:
    """Dark where the system is dark, and nothing wider than a phone's screen."""
    for page in opened(
        browser, url, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True
    ):
        ask(page, "Which tier is Acme on?")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        shot(page, "phone-dark", full_page=True)
        for name in ("search", "list", "timeline", "merges", "worlds"):
            tab(page, name)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name

        assert sum(map(int, re.findall(r"\d+", background)[:3])) < 120
    for page in opened(browser, url, viewport={"width": 1360, "height": 900}, color_scheme="dark"):
        ask(page, "Where does Bo live?")
        shot(page, "search-dark")


def test_empty_memory_teaches(browser: Browser, tmp_path: Path) -> None:
    """A store without memories says how to begin, in every view."""
    with running(str(tmp_path / "new.db")) as url:
        for page in opened(browser, url):
            expect(page.locator(".empty")).to_contain_text("worldline add")
            shot(page, "empty")
            for name, told in (
                ("list", "worldline add"),
                ("timeline", "worldline mcp"),
                ("merges", "silently"),
                ("worlds", "--world"),
            ):
                tab(page, name)
                expect(page.locator("#panel")).to_contain_text(told)


def test_unknown_question_says_why(page: Page) -> None:
    """A question that nothing answers gets the reason and a way on."""
    page.fill("#q", "zzyzx quux?")
    page.press("#q", "Enter")

    expect(page.locator(".empty")).to_contain_text("Nothing found")
    expect(page.locator(".empty")).to_contain_text("nothing stored")


def test_server_that_goes_away_is_explained(page: Page) -> None:
    """Without its server the page says what to start, and goes on when it is back."""
    page.route("**/v1/**", lambda route: route.abort())
    page.fill("#q", "anything")
    page.press("#q", "Enter")
    expect(page.locator("#notice")).to_contain_text("worldline serve")
    shot(page, "offline")
    page.unroute("**/v1/**")
    page.click("#notice button")
    expect(page.locator("#notice")).to_be_empty()
    ready(page)


def test_a_token_is_asked_for(browser: Browser, db: str) -> None:
    """A protected memory asks for a token, and opens with the right one."""
    with running(db, WORLDLINE_TOKEN="a-long-enough-token") as url:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.fill("#notice input", "wrong-token-0123456789")
        page.press("#notice input", "Enter")
        expect(page.locator("#notice input")).to_be_empty()
        page.fill("#notice input", "a-long-enough-token")
        page.press("#notice input", "Enter")
        expect(page.locator("#panel")).to_contain_text("Ask a question")
        context.close()


@pytest.mark.parametrize("name", ["index.html", "app.js", "graph.js", "style.css"])
def test_nothing_comes_from_elsewhere(name: str) -> None:
    """The page has no build step and loads nothing from another server."""
    text = (Path(__file__).parents[2] / "src/worldline/surfaces/explorer" / name).read_text("utf-8")

    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
