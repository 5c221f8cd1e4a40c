"""The explorer in a real browser: one test for each thing that it promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import NASTY, loaded, opened, ready, shot
from serving import rest, running
from worldline import Config, Memory
from worldline.write.given import Link, Note


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
    expect(page.locator("#detail dd").first).to_have_text(
        "since 2026-05-02 09:00 +02:00"
    )  # as Ana's clock had it
    expect(page.locator("#detail .history")).to_contain_text("learned")
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
    expect(page.locator(".merge .soft")).to_have_text("somebody said that they are one")
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
        best, graph = page.locator(".hit").first.bounding_box(), page.locator("#graph-box").bounding_box()
        assert best is not None
        assert graph is not None
        assert best["y"] < graph["y"]  # what was found comes before what lies around it
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
            expect(page.locator("#adding textarea")).to_be_visible()
            shot(page, "empty")
            for name, told in (
                ("list", "worldline add"),
                ("timeline", "worldline install"),
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


# What a person does here --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on a store that may be written to: a few words of Ana's, and a hub with 200 neighbours."""
    path = str(tmp_path_factory.mktemp("lively") / "me.db")
    with Memory.open(path, Config(embedder="none")) as memory:
        memory.remember("I live in Rome and I am vegetarian.", speaker="Ana", said_at="2026-05-02")
        memory.remember("My sister Rosa works at Siemens.", speaker="Ana", said_at="2026-05-03")
        memory.remember("We moved to Porto.", speaker="Ana", said_at="2026-06-20")
        memory.note("context", "Gate code", "4711", valid_from="2026-05-01")
        notes = [Note("project", "Hub", "the middle", "2026-01-01")]
        notes += [Note("reference", f"spoke {at}", f"number {at}", "2026-01-02") for at in range(200)]
        memory.load(notes, [Link(0, "relates_to", at) for at in range(1, 201)])
    with running(path, WORLDLINE_EMBEDDER="none") as address:
        yield address


@pytest.fixture
def desk(wide: Page, lively: str) -> Iterator[Page]:
    """The explorer on that store."""
    yield from loaded(wide, lively)


def test_the_answer_stands_on_top_with_its_proof(desk: Page) -> None:
    """A known answer comes first, its proof leads to the fact, and each hit says why in words."""
    ask(desk, "Where does Ana live?")
    first = desk.locator("#panel > *").first

    expect(first).to_have_id("answer")
    expect(first.locator(".said")).to_have_text("Porto")
    expect(first.locator(".proof .name").first).to_have_text("Ana lives in Porto")
    expect(desk.locator(".hit .because").first).to_contain_text("said by Ana")
    expect(desk.locator(".hit .factors").first).to_be_hidden()
    shot(desk, "answer")
    first.locator(".proof .name").first.click()
    expect(desk.locator("#detail .head b").first).to_have_text("Ana lives in Porto")
    expect(desk.locator("#detail blockquote").first).to_contain_text("We moved to Porto.")


def test_links_lead_back_to_what_was_seen(desk: Page, lively: str) -> None:
    """Question, view, chosen memory and both moments stand in the address; back, forward and a reload keep them."""
    ask(desk, "Where does Ana live?")
    searched = desk.url
    tab(desk, "timeline")
    slide(desk, "valid", 500)
    assert all(part in desk.url for part in ("q=Where", "tab=timeline", "ref=", "valid=20"))
    there, told = desk.url, desk.locator("#valid-told").text_content()
    desk.go_back()
    desk.go_back()
    desk.wait_for_function("url => location.href === url", arg=searched)
    expect(desk.locator("#answer .said")).to_have_text("Porto")
    desk.go_forward()
    expect(desk.locator("#tab-timeline")).to_have_attribute("aria-selected", "true")
    desk.goto(there)
    ready(desk)
    expect(desk.locator("#valid-told")).to_have_text(told or "")
    expect(desk.locator("#q")).to_have_value("Where does Ana live?")
    expect(desk.locator("#graph .node.centre")).to_have_count(1)
    assert desk.url == there


def test_the_graph_shows_what_is_said_of_people(desk: Page) -> None:
    """Around a person stand people, places and facts with what joins them; no raw edge types; two steps show more."""
    tab(desk, "list")
    desk.select_option("#panel select", "Entity")
    ready(desk)
    desk.locator("#panel .name", has_text=re.compile("^Ana$")).click()
    expect(desk.locator("#graph .node.Entity", has_text="Porto")).to_have_count(1)
    labels = desk.locator("#graph .edge-name").all_text_contents()

    assert {"lives in", "sister"} <= set(labels)
    assert not {"refers_to", "derived_from", "fact"} & set(labels)
    expect(desk.locator("#graph .node.Fact", has_text="vegetarian")).to_have_count(1)
    before = desk.locator("#graph .node").count()
    shot(desk, "graph-person")
    desk.click("#deeper")
    expect(desk.locator("#graph .node.Entity", has_text="Siemens")).to_have_count(1)
    assert desk.locator("#graph .node.far").count() >= 1
    assert desk.locator("#graph .node").count() > before
    expect(desk.locator("#deeper")).to_contain_text("2 steps (+")
    shot(desk, "graph-two-steps")
    assert names_that_overlap(desk) == []


def names_that_overlap(page: Page) -> list[list[str]]:
    """The names in the graph that lie on one another, as the browser has drawn them."""
    found: list[list[str]] = page.evaluate("""() => {
        const texts = [...document.querySelectorAll("#graph text")].filter(t => getComputedStyle(t).display !== "none");
        const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]).filter(([, b]) => b.width);
        return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) =>
            Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2
            && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 2).map(([b]) => [a, b])); }""")
    return found


def test_two_hundred_neighbours_stay_readable(desk: Page) -> None:
    """Many neighbours of one relation are one bundle that opens; then labels come on demand, the hub's stays clear."""
    ask(desk, "the middle Hub")
    desk.locator("#panel .hit .name", has_text="Hub").first.click()
    expect(desk.locator("#graph .node.more")).to_have_count(1)
    expect(desk.locator("#graph .node.more text")).to_contain_text("+ 19")
    assert names_that_overlap(desk) == []
    assert desk.locator("#graph .node").count() < 15
    shot(desk, "graph-bundled")
    desk.locator("#graph .node.more").click()
    expect(desk.locator("#graph .node")).to_have_count(201)
    hidden = (
        "[...document.querySelectorAll('#graph .node:not(.centre) text')]"
        ".every(t => getComputedStyle(t).display === 'none')"
    )
    assert desk.evaluate(hidden)
    expect(desk.locator("#graph .node.centre text")).to_be_visible()
    legend, box = desk.locator(".legend").bounding_box(), desk.locator("#graph").bounding_box()
    assert legend is not None
    assert box is not None
    assert legend["y"] >= box["y"] + box["height"] - 1
    shot(desk, "graph-200")


def test_the_timeline_has_ticks_and_zooms(desk: Page) -> None:
    """Round dates stand over the lines, zooming shows a part of the time, All brings everything back."""
    tab(desk, "timeline")
    ticks = desk.locator(".tl-tick").all_text_contents()
    rows = desk.locator(".tl-row:not(.tl-axis)").count()
    shot(desk, "timeline-ticks")

    assert 2 <= len(ticks) <= 12
    places = [box for tick in desk.locator(".tl-tick").all() if (box := tick.bounding_box()) is not None]
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(places))
    assert all(re.fullmatch(r"\d{4}(-\d\d)?|\d\d-\d\d( \d\d:\d\d)?", tick) for tick in ticks)
    for _ in range(4):
        desk.click("button[aria-label='Zoom in']")
        ready(desk)
    assert desk.locator(".tl-tick").all_text_contents() != ticks
    shot(desk, "timeline-zoomed")
    desk.click("button[aria-label='Show all']")
    ready(desk)
    assert desk.locator(".tl-row:not(.tl-axis)").count() == rows
    assert desk.locator(".tl-tick").all_text_contents() == ticks


def test_the_sliders_have_dates_at_their_ends(desk: Page) -> None:
    """Each slider says where it begins and ends."""
    for end in ("valid-from", "valid-to", "known-from", "known-to"):
        expect(desk.locator(f"#{end}")).to_have_text(re.compile(r"\d{4}-\d\d-\d\d"))


def test_a_person_adds_corrects_ends_and_pins(desk: Page) -> None:
    """Each write shows its receipt, is seen at once, and can be undone."""
    tab(desk, "list")
    desk.click("#adding summary")
    desk.fill("#adding textarea", "Bo grows roses in Oslo.")
    desk.fill("#adding input", "Bo")
    desk.click("#adding button")
    expect(desk.locator("#receipt")).to_contain_text("Remembered.")
    expect(desk.locator("#receipt .chip")).to_have_text(["Bo grows roses in Oslo"])
    ready(desk)
    expect(desk.locator("#panel .card blockquote").first).to_have_text("Bo grows roses in Oslo.")
    shot(desk, "receipt")
    ask(desk, "What does Bo grow?")
    expect(desk.locator(".hit blockquote").first).to_have_text("Bo grows roses in Oslo.")

    ask(desk, "Gate code")
    desk.locator("#panel .hit .name", has_text="Gate code").first.click()
    desk.click("[data-verb=amend]")
    desk.fill("#detail textarea", "9000")
    desk.click("#detail form .strong")
    expect(desk.locator("#detail blockquote").first).to_have_text("9000")
    desk.click("#receipt button")
    expect(desk.locator("#receipt")).to_have_text("Undone.")
    expect(desk.locator("#detail blockquote").first).to_have_text("4711")
    desk.click("[data-verb=pin]")
    expect(desk.locator("#receipt")).to_contain_text("Pinned")
    desk.click("[data-verb=retire]")
    expect(desk.locator("#detail")).to_contain_text("not there")
    desk.click("#receipt button")
    expect(desk.locator("#detail blockquote").first).to_have_text("4711")
    tab(desk, "timeline")
    expect(desk.locator("#receipt")).to_be_empty()


def test_forgetting_counts_first_and_asks_twice(desk: Page, lively: str) -> None:
    """Forget says what would go, Cancel keeps it, and only a second click erases; nothing of it is left to see."""
    with rest(lively) as api:
        api.post("notes", {"type": "context", "name": "Old secret", "content": "the fox is in the barn"})
    ask(desk, "Where is the fox?")
    desk.locator("#panel .hit .name", has_text="Old secret").first.click()
    desk.click("[data-verb=forget]")
    expect(desk.locator(".forget")).to_contain_text("erases 1 memory and 0 facts")
    desk.click(".forget button:has-text('Cancel')")
    expect(desk.locator("#detail blockquote").first).to_have_text("the fox is in the barn")
    desk.click("[data-verb=forget]")
    desk.click("[data-verb=erase]")
    expect(desk.locator("#receipt")).to_contain_text("Erased for good: 1 memory, 0 facts")
    expect(desk.locator("#detail")).to_be_empty()
    with rest(lively) as api:
        assert "fox" not in str(api.get("memories", type="context", include_superseded="true"))


def test_on_a_phone_the_chosen_memory_comes_first(browser: Browser, lively: str) -> None:
    """What was chosen opens above the list, and the page goes there."""
    for page in opened(browser, lively, viewport={"width": 390, "height": 844}, has_touch=True):
        tab(page, "list")
        page.locator("#panel .card .name").first.click()
        page.wait_for_selector("#detail[aria-busy=false] .card")
        page.wait_for_timeout(400)
        detail, panel = page.locator("#focus").bounding_box(), page.locator("#side").bounding_box()
        assert detail is not None
        assert panel is not None
        assert detail["y"] < panel["y"]
        assert detail["y"] < 844
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        shot(page, "phone-chosen")
