"""A memory that gives every pass of sleep something to do, and what a night has made of it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from worldline.memory import Memory
from worldline.model import Fact, Predicate

_DAYS = ("2026-01-05", "2026-01-12", "2026-02-02", "2026-03-09", "2026-03-16", "2026-04-20")
_LINES = {
    "garden": (
        "I planted six tomato seedlings in the garden behind the house.",
        "The tomato plants have blight because it rained for two weeks.",
        "Because of the blight I bought copper spray at the garden shop.",
        "Pedro helped me to rebuild the greenhouse on Saturday.",
        "The greenhouse cost me 480 euros in the end.",
        "I love gardening with Pedro, he is my neighbour.",
    ),
    "work": (
        "I started a new job at Siemens in Munich.",
        "My manager is called Helga and she is strict.",
        "The turbine project was cancelled because the client left.",
        "I was promoted to team lead of the turbine project.",
        "I work at Bosch now, the pay is better.",
        "We decided to use Linear instead of Jira for the turbine project.",
    ),
    "family": (
        "My sister Ana lives in Porto with her two dogs.",
        "Ana moved to Lisbon because she found a flat near the river.",
        "My name is Maria and my birthday is on 4 May.",
        "I am allergic to peanuts, please remember that.",
        "Ana had a baby girl, her name is Rosa.",
        "Rosa was ill, so Ana stayed at home for a week.",
    ),
}


def fill(memory: Memory, seed: int = 1) -> None:
    """Two users with sessions about three things; facts that repeat, conflict and lose their ground."""
    chance = random.Random(seed)
    memory.register(Predicate("lives_in", functional=True))
    for user in ("ann", "bob"):
        mine = memory.scoped(user=user)
        for number, day in enumerate(_DAYS):
            about = list(_LINES)[number % 3]
            talk = mine.scoped(session=f"{about} {number}")
            lines = chance.sample(_LINES[about], 4)
            talk.remember(
                messages=[
                    message
                    for line in lines
                    for message in (
                        {"role": "user", "name": "Maria", "content": line, "said_at": f"{day}T10:00:00Z"},
                        {"role": "assistant", "content": "Noted.", "said_at": f"{day}T10:01:00Z"},
                    )
                ]
            )
        doubt = mine.remember(
            "Carl lives in Rome.", said_at="2026-02-01", facts=[Fact("Carl", "lives_in", "Rome")]
        )
        for town in ("Oslo", "Bergen"):
            mine.remember(
                f"Dana: {town}.",
                said_at="2026-02-02",
                facts=[Fact("Dana", "lives_in", town, functional=False)],
            )
        mine.correct(doubt.id, reason="misheard")
        house = mine.note("project", f"house of {user}")
        a, b, c = (mine.enter(house).note("Happening", name) for name in ("rain", "flood", "repair"))
        mine.link(a, "causes", b)
        mine.link(b, "causes", c)


def products(memory: Memory) -> Counter[tuple[Any, ...]]:
    """Everything that is believed now, by what it says: memories, edges and marks, without row numbers or times."""
    query = memory.handle.store.query
    nodes = query(
        "SELECT 'node', n.type, n.name, n.content, b.status, b.scope FROM beliefs b JOIN nodes n ON n.id = b.node"
        " WHERE b.kt = 9223372036854775807 AND b.vt = 9223372036854775807"
    )
    edges = query(
        "SELECT 'edge', e.type, s.name || s.content, d.name || d.content, e.metadata, e.scope FROM edges e"
        " JOIN nodes s ON s.id = e.src JOIN nodes d ON d.id = e.dst"
        " WHERE e.kt = 9223372036854775807 AND e.vt = 9223372036854775807"
    )
    marks = query(
        "SELECT 'mark', m.kind, m.value, n.name || n.content, m.scope FROM marks m JOIN nodes n ON n.id = m.line"
        " WHERE m.kt = 9223372036854775807"
    )
    return Counter([*nodes, *edges, *marks])


def derived(memory: Memory) -> dict[str, int]:
    """How many rows each derived table holds."""
    tables = ("scores", "strengths", "composed", "profiles", "uses")
    return {t: memory.handle.store.query(f"SELECT count(*) FROM {t}")[0][0] for t in tables}
