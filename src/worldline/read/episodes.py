"""Episodes: stretches of talk that a pause of six hours or more parts from each other, whatever the session.

They are computed from the index of what was said when, newest first and only as far back as is asked
for, so nothing is stored and a long life costs no more than a short one. It decides where a stretch
begins and ends, and what to call it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from worldline.clock import Instant
from worldline.errors import InvalidInput
from worldline.model import Node
from worldline.ports import View
from worldline.read.profile import Milestone, is_plain, kept, milestones, telling
from worldline.rules.gathering import alike, counted
from worldline.store.events import Uttered, backwards, landmarks_among

PAUSE = 6 * 3600 * 1_000_000
MOST_TURNS = 20_000
"""So many turns are looked at; the stretch in which they end is told as far as it was seen."""
SAMPLE = 120
"""So many turns of a stretch are read for its title."""
_UNSIGNED, _SURE = 5, 0.15
"""From so many unsigned turns on it is said whom they sound like, if that is clear by so much."""


class Episode(Struct, frozen=True):
    """A stretch of talk: when, who with how many turns, where, and what about."""

    began: Instant
    ended: Instant
    turns: int
    who: dict[str, int]
    sessions: tuple[str, ...]
    title: str
    landmarks: tuple[Milestone, ...]
    opens: str
    closes: str
    """The ids of its first and its last turn."""
    sounds_like: str | None = None
    """Whose style the unsigned turns have, where it is clear."""
    texts: tuple[Node, ...] = ()
    """What was said, where that was asked for."""


def episodes(
    view: View, within: tuple[Instant, Instant], limit: int, *, read: bool = False
) -> tuple[Episode, ...]:
    """The newest stretches that begin and end within some time, oldest of them first."""
    if type(limit) is not int or not 1 <= limit <= 1000:
        raise InvalidInput(f"ask for 1 to 1000 episodes, not {limit!r}")
    found: list[list[Uttered]] = []
    for turn in backwards(view, within, MOST_TURNS):
        if found and found[-1][-1].at - turn.at < PAUSE:
            found[-1].append(turn)
        elif len(found) < limit:
            found.append([turn])
        else:
            break
    return tuple(_told(view, stretch[::-1], read) for stretch in reversed(found))


def _told(view: View, turns: Sequence[Uttered], read: bool) -> Episode:
    lines = list(dict.fromkeys(turn.line for turn in turns))
    sample = view.visible(lines if read else lines[:SAMPLE])
    texts = [node.content for node in sample[:SAMPLE]]
    who = Counter(turn.sender for turn in turns)
    ids = view.ids([turns[0].node, turns[-1].node])
    return Episode(
        turns[0].at,
        turns[-1].at,
        len(turns),
        dict(sorted(who.items(), key=lambda pair: (-pair[1], pair[0]))),
        tuple(dict.fromkeys(turn.session for turn in turns if turn.session)),
        ", ".join(telling(view, texts, 4)),
        milestones(view, landmarks_among(view, [turn.node for turn in turns])),
        ids[0],
        ids[1],
        _sounds_like(view, [node.content for node in sample if not node.name]),
        tuple(sample) if read else (),
    )


def _sounds_like(view: View, unsigned: Sequence[str]) -> str | None:
    """Whose style some unsigned texts have, if the nearest is clearly nearer than the next."""
    styles = kept(view).styles if len(unsigned) >= _UNSIGNED and is_plain(view) else {}
    if len(styles) < 2:
        return None
    style, usual = sum((counted(text) for text in unsigned), counted("")), sum(styles.values(), counted(""))
    near = sorted(((-alike(style, one, usual), name) for name, one in styles.items()))
    return near[0][1] if near[1][0] - near[0][0] >= _SURE else None
