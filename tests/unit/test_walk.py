"""The walk over current facts: chains of several hops, proof, abstention, wording and cost."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from fact_graph import FactGraph, sentences

from clock import cpu
from worldline.read.answers import Likeness, walk
from worldline.text import fold

FACTS = """
The capital of Freedonia is Marxville.
Ana Lopes is a citizen of Freedonia.
Acme Works was founded by Ana Lopes.
Zephyr was produced by Acme Works.
Ana Lopes is married to Rui Costa.
Rui Costa was born in the city of Faro.
Rui Costa works in the field of botany.
Faro is located in the continent of Europe.
The author of Blue Hours is Rui Costa.
Rui Costa speaks the language of Elvish.
The official language of Freedonia is Klingon.
Pelota was created in the country of Freedonia.
Ana Lopes is associated with the sport of Pelota.
"""


def told(text: str) -> FactGraph:
    """A graph that was told these sentences."""
    graph = FactGraph()
    for line in text.strip().splitlines():
        graph.tell(line)
    return graph


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the capital of Freedonia?", "Marxville"),
        ("Who founded Acme Works?", "Ana Lopes"),
        ("Where was the spouse of Ana Lopes born?", "Faro"),
        ("What is the capital of the country that Ana Lopes is a citizen of?", "Marxville"),
        ("What is the occupation of the author of Blue Hours?", "botany"),
        ("On which continent was the husband of the founder of Acme Works born?", "Europe"),
        ("Which language does the author of Blue Hours speak?", "Elvish"),
        (
            "What is the official language of the country where the sport of Ana Lopes was created?",
            "Klingon",
        ),
        (
            "What is the capital of the country of citizenship of the founder of the producer of Zephyr?",
            "Marxville",
        ),
    ],
)
def test_answers(question: str, answer: str) -> None:
    """Questions of one to four hops are answered, with the chain as proof."""
    found = walk(question, told(FACTS)).chains[0]
    assert found.name == answer
    assert found.hops[-1].target == fold(answer)
    assert all(a.target == b.source for a, b in zip(found.hops, found.hops[1:], strict=False))


def test_only_current_facts() -> None:
    """A superseded fact is never walked."""
    graph = told(FACTS + "\nThe capital of Freedonia is Sylvan.")
    found = walk("What is the capital of Freedonia?", graph)
    assert found.chains[0].name == "Sylvan"
    assert "Marxville" not in [c.name for c in found.chains if c.hops[-1].relation == "capit|of"]


def test_unknown_entity_gives_nothing() -> None:
    """A question that names nothing known has no answer and no confidence."""
    assert walk("Where was Xavier Quill born?", told(FACTS)).confidence == 0.0


def test_confidence_falls_when_the_fact_is_missing() -> None:
    """Without the answering fact the best chain is clearly less sure."""
    question = "Where was the spouse of Ana Lopes born?"
    graph = told(FACTS)
    sure = walk(question, graph).confidence
    fact = walk(question, graph).chains[0].hops[-1]
    graph.remove(fact.source, fact.fact)
    assert walk(question, graph).confidence < sure - 0.2


@pytest.mark.parametrize(
    "wording",
    [
        "Freedonia's capital is Sylvan.",
        "Sylvan is the capital of Freedonia.",
        "Freedonia's capital is the city of Sylvan.",
    ],
)
def test_wordings_meet_in_one_slot(wording: str) -> None:
    """Another wording of the same relation closes the old value."""
    graph = told(FACTS + "\n" + wording)
    assert walk("What is the capital of Freedonia?", graph).chains[0].name == "Sylvan"
    assert sum(h.slot == "capit|of" for h, _ in graph.about["freedonia"].values()) == 1


@pytest.mark.parametrize("wording", ["Rui Costa founded Acme Works.", "Acme Works's founder is Rui Costa."])
def test_active_and_passive(wording: str) -> None:
    """Who founded a firm is answered by the latest statement, whatever its voice."""
    graph = told(FACTS + "\n" + wording)
    assert walk("Who founded Acme Works?", graph).chains[0].name == "Rui Costa"


def test_many_threads_share_one_likeness() -> None:
    """Each gets the answer to its own question, whatever the others ask and teach meanwhile."""
    graph = told(FACTS)
    asked = {"Who founded Acme Works?": "Ana Lopes", "Where was Rui Costa born?": "Faro",
             "What is the capital of Freedonia?": "Marxville", "Who is Ana Lopes married to?": "Rui Costa"}  # fmt: skip
    patience = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(asked)) as pool:
            for _ in range(40):
                likeness = Likeness()
                found = pool.map(lambda question, m=likeness: walk(question, graph, m).chains[0].name, asked)
                assert list(found) == list(asked.values())
    finally:
        sys.setswitchinterval(patience)


def test_cost_at_18_000_facts() -> None:
    """At 18,000 facts a fact costs at most 4 ms and a question at most 150 ms of CPU."""
    graph = FactGraph()
    lines, questions = sentences(1, 18_000)

    def tell() -> None:
        for line in lines:
            graph.tell(line)

    assert cpu(tell) / len(lines) < 0.004
    likeness, right = Likeness(), []

    def ask() -> None:
        for question, answer in questions[:100]:
            right.append(walk(question, graph, likeness).chains[0].name == answer)

    assert cpu(ask) / 100 < 0.150
    assert sum(right) >= 90


def test_cost_with_meanings() -> None:
    """With the embedder on, a question still costs at most 150 ms of CPU."""
    from worldline.plugins import open_embedder

    embedder = open_embedder("auto")
    assert embedder is not None
    graph = FactGraph()
    lines, questions = sentences(2, 6_000)
    for line in lines:
        graph.tell(line)
    likeness = Likeness(embedder.embed)
    assert cpu(lambda: [walk(question, graph, likeness) for question, _ in questions[:40]]) / 40 < 0.150
