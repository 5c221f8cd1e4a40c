"""The words by which some texts can be told from all others: used again and again here, seldom elsewhere.

It decides which words those are and gives them in the shape in which they are mostly written.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from worldline.rules.names import GIVEN
from worldline.store.view import SqlView
from worldline.text import content_words, words

_WORD = re.compile(r"[^\W\d_][\w'’-]+|[\u4e00-\u9fff]+")
_COMMON = 40
"""A share of one in so many texts makes a word worth looking at, where there are many."""


def telling(view: SqlView, texts: Sequence[str], most: int) -> tuple[str, ...]:
    """At most so many words, the most telling first; names of people are not words."""
    often: Counter[str] = Counter()
    shapes: dict[str, Counter[str]] = {}
    for text in texts:
        often.update(set(content_words(text)))
        for word in _WORD.findall(text):
            for token in words(word)[:1]:
                shapes.setdefault(token, Counter())[word.lower()] += 1
    least = max(1 if len(texts) < 8 else 2, len(texts) // _COMMON)
    tokens = [
        t for t, n in often.items() if n >= least and t in shapes and len(t) > 2 and not _is_name(shapes[t])
    ]
    everywhere, total = view.frequencies(tokens), _texts(view)
    worth = {t: _worth(often[t], len(texts), everywhere.get(t, 0), total) for t in tokens}
    best = sorted(tokens, key=lambda token: (-worth[token], token))[:most]
    return tuple(shapes[token].most_common(1)[0][0] for token in best)


def _worth(often: int, of: int, everywhere: int, total: int) -> float:
    """How often, times how much more often than elsewhere."""
    return often * math.log((often / of) / ((max(everywhere, often) + 1) / (total + 1)))


def _texts(view: SqlView) -> int:
    rows = view.query("SELECT texts FROM tenants WHERE tenant = :t")
    return int(rows[0][0]) if rows else 0


def _is_name(shapes: Counter[str]) -> bool:
    return shapes.most_common(1)[0][0].removesuffix("'s").removesuffix("’s") in GIVEN
