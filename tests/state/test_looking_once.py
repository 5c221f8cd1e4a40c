"""What is looked at once, or only as far as it is needed, tells the same as a look at everything."""

from pathlib import Path

from worldline import Config, Fact, Memory
from worldline.read.answers import ViewGraph
from worldline.store.events import BESIDE, newest_of

PLAIN = Config(embedder="none", understand="off")


def test_the_newest_words_are_found_behind_many_that_nobody_may_see(tmp_path: Path) -> None:
    """Somebody's own words come to light though more of another scope's lie before them than are looked at first."""
    with Memory.open(tmp_path / "m.db", PLAIN) as memory:
        mine, other = memory.scoped(user="me"), memory.scoped(user="other")
        said = [{"name": "Ana", "content": f"Mine, number {number}."} for number in range(3)]
        mine.remember(messages=said)
        other.remember(messages=[{"name": "Ana", "content": f"Theirs, {n}."} for n in range(2 * BESIDE)])
        found = mine.handle.read(lambda view: newest_of(view, "ana", 0, 2))
        texts = mine.handle.read(lambda view: [node.content for node in view.visible(found)])
    assert texts == ["Mine, number 1.", "Mine, number 2."]


def test_a_walk_looks_for_the_steps_of_an_entity_once(tmp_path: Path) -> None:
    """Whoever comes back to somebody finds the same steps, without another statement."""
    with Memory.open(tmp_path / "m.db", PLAIN) as memory:
        for who, where in (("Ana", "Porto"), ("Ben", "Porto"), ("Ana", "Rome")):
            memory.remember(f"{who} and {where}.", facts=[Fact(who, "has visited", where)])

        def twice(view):
            graph = ViewGraph(view)
            entities = sorted(graph.link(["ana", "ben", "porto"]).values())
            first, before = graph.around(entities, 20), view.store.statements
            again = graph.around(entities, 20)
            assert view.store.statements == before
            alone = ViewGraph(view).around(entities[:1], 20)
            assert alone[0] == [step for step in first[0] if step.subject == entities[0]]
            return first, again

        first, again = memory.handle.read(twice)
    assert first == again
    assert (len(first[0]), len(first[1])) == (3, 2)
