"""Plays a table of talk through the public API and counts what was understood.

Facts are compared by their words in order, without case, articles, auxiliaries and inflection; "ME" in
a table is whoever speaks. Histories are judged by what became of the first statement's facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from worldline import FOREVER, Config, Event, Memory
from worldline.testing import FrozenClock
from worldline.text import words

Row = dict[str, Any]
DROPPED = set(
    "a an the is are was were am be been being has have had do does did will would can could s".split()
)
TURNED = re.compile(r"\b(?:no longer|not|never|used to|stopped|anymore|neither|nobody|none|no)\b|n't\b")
ENDS = re.compile(r"^(.*): ends, ")


@contextmanager
def told(
    statements: Sequence[Row],
) -> Iterator[tuple[Memory, list[str], dict[str, tuple[int, str, int | None]]]]:
    """A fresh memory that heard statements at their times: their ids, and what is first believed after each."""
    clock = FrozenClock(statements[0]["said_at"])
    with Memory.open(":memory:", Config(embedder="none"), clock=clock) as memory:
        ids, first = [], {}
        for at, said in enumerate(statements):
            clock.set(said["said_at"])
            ids.append(memory.remember(said["text"], speaker=said["speaker"], said_at=said["said_at"]).id)
            for line, (content, end) in believed(memory).items():
                first.setdefault(line, (at, content, end))
        clock.advance(60_000_000)
        yield memory, ids, first


def believed(memory: Memory) -> dict[str, tuple[str, int | None]]:
    """Each fact with the end of its validity; None where it is not believed any more."""
    found: dict[str, tuple[str, int | None]] = {}
    for node in memory.list("Fact", include_superseded=True, limit=500).items:
        end = found.get(node.lineage, (node.content, None))[1]
        found[node.lineage] = (
            node.content,
            max(end or 0, node.valid.end) if node.known.end == FOREVER else end,
        )
    return found


def plain(said: str) -> tuple[str, ...]:
    """The words that count, as stems, in order."""
    found = re.findall(r"[^\W_]+(?:[.:@/][^\W_]+)*", TURNED.sub(" ", said.lower()))
    return tuple(stem for word in found if word not in DROPPED for stem in (words(word) or [word]))


def is_right(answer: str, wanted: str) -> bool:
    """Whether an answer holds the words of one of the wordings, or the other way round."""
    said, forms = set(plain(answer)), [set(plain(form)) for form in re.split(r" / |\|", wanted)]
    return any(said and form and (form <= said or said <= form) for form in forms)


def shares(count: Counter[str], **of: tuple[str, str]) -> dict[str, float]:
    """Each part over its whole."""
    return {name: count[part] / max(1, count[whole]) for name, (part, whole) in of.items()}


def drawn(item: Row) -> dict[tuple[str, ...], tuple[bool, bool]]:
    """What is believed after one message: words → whether it is denied, and whether it is over."""
    with Memory.open(":memory:", Config(embedder="none"), clock=FrozenClock(item["said_at"])) as memory:
        event = Event(item["text"], item["speaker"], item["said_at"], recipient=item["addressee"] or None)
        receipt = memory.remember(event)
        nodes = memory.list("Fact", include_superseded=True, limit=500).items
    found = {plain(n.content): (bool(TURNED.search(n.content)), n.valid.end != FOREVER) for n in nodes}
    for over in filter(None, map(ENDS.match, receipt.changes)):
        found.setdefault(plain(over[1]), (False, True))
    return found


def facts(rows: Sequence[Row]) -> dict[str, float]:
    """Precision of what is drawn, and recall of what must be."""
    count: Counter[str] = Counter()
    for item in rows:
        got, right = drawn(item), set()
        for fact in item["facts"]:
            forms = {
                plain(f"{f['s']} {f['p']} {f['o']}".replace("ME", item["speaker"])) for f in fact["forms"]
            }
            turned = fact.get("negated") or fact.get("ended")
            hits = {s for s, signs in got.items() if s in forms and (any(signs) if turned else not signs[0])}
            right |= hits
            count.update(must=fact["must"], met=bool(fact["must"] and hits))
        count.update(drawn=len(got), right=len(right))
    return shares(count, precision=("right", "drawn"), recall=("met", "must"))


# Little histories ------------------------------------------------------------------------------------


def changes(rows: Sequence[Row]) -> dict[str, float]:
    """Closings and corrections found, closings that are wrong, contradictions shown, current values first."""
    count: Counter[str] = Counter()
    for item in rows:
        kind = item["expect"]
        with told(item["statements"]) as (memory, ids, first):
            last, shown, found = believed(memory), bool(memory.conflicts()), memory.recall(item["question"])
        fates: list[tuple[int, str, str]] = []
        for line, (at, content, end) in first.items():
            now = last.get(line, ("", None))[1]
            fates.append(
                (at, content, "withdrawn" if now is None else "ended" if now < (end or 0) else "kept")
            )
        stale = set(plain(item.get("stale_answer") or ""))
        meant = {f for at, content, f in fates if at == 0 and stale and stale <= set(plain(content))}
        meant = meant or {f for at, _, f in fates if at == 0}
        met = meant & {"closes": {"ended", "withdrawn"}, "correction": {"withdrawn"}}.get(kind, set())
        hit = bool(found.hits) and found.hits[0].node.id in [ids[i] for i in item["current"]]
        plainly = found.answer and kind != "contradiction"
        count.update({"all": 1, kind: 1, f"{kind} met": bool(met) or (kind == "contradiction" and shown)})
        count["current"] += is_right(found.answer or "", item["current_answer"]) if plainly else hit
        if kind in ("keeps_both", "series", "reassert"):
            count.update(calm=1, false=any(fate != "kept" for _, _, fate in fates))
    return shares(
        count, closes=("closes met", "closes"), correction=("correction met", "correction"), false=("false", "calm"),
        contradiction=("contradiction met", "contradiction"), current=("current", "all"),
    )  # fmt: skip


def small(rows: Sequence[Row]) -> dict[str, float]:
    """The share of questions that are answered cleanly, or refused where nothing answers them."""
    count: Counter[str] = Counter()
    for item in rows:
        with told(item["messages"]) as (memory, ids, _):
            for asked in item["questions"]:
                found = memory.recall(asked["question"])
                first = bool(found.hits) and found.hits[0].node.id in [ids[i] for i in asked["gold"]]
                clean = (
                    first
                    and not found.abstained
                    and (not found.answer or is_right(found.answer, asked["answer"]))
                )
                if asked.get("unanswerable"):
                    clean = found.abstained and not found.answer
                count.update(asked=1, clean=clean)
    return shares(count, clean=("clean", "asked"))
