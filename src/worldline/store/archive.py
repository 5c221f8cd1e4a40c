"""Words of archived texts: one ranking over the hot and the cold index together.

FTS5 ranks within one table, by that table's own counts. A read that looks at everything must rank as
if nothing had ever been moved, or an answer as of last year would change with the archive. So both
tables are scored with the counts of both, by the same formula (BM25 as FTS5 computes it).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import apsw

    from worldline.store.view import SqlView

K1, B = 1.2, 0.75
COLUMN_WEIGHTS = (0.0, 1.0, 0.4)
"""Of owner, text and kinds, as the tables' own rank has them."""
FUNCTION = "rank_in_all"
_COUNTED = (
    "SELECT term, max(doc) AS texts FROM {} WHERE term IN (SELECT value FROM json_each(:tokens))"
    " AND col != 'owner' GROUP BY term"
)
COUNTS = (
    f"SELECT term, sum(texts) FROM ({_COUNTED.format('terms')} UNION ALL {_COUNTED.format('cold_terms')})"
    " GROUP BY term"
)
"""In how many texts tokens occur, wherever they lie: what a word is worth does not depend on the archive."""


def is_used(view: SqlView) -> bool:
    """Whether anything was ever archived in this file."""
    return bool(view.query("SELECT 1 FROM cold_words_docsize LIMIT 1"))


def best(view: SqlView, match: str) -> tuple[str, dict[str, Any]]:
    """A select of (rowid, score) of the texts that match and that the view looks at, best first."""
    if not (view.whole and is_used(view)):
        return "SELECT rowid, rank AS score FROM words WHERE words MATCH :match ORDER BY rank", {
            "match": match
        }
    select, args = ranked(view, match)
    return f"{select} ORDER BY score, rowid", args | {"match": match}


def ranked(view: SqlView, match: str) -> tuple[str, dict[str, Any]]:
    """A select of (rowid, score) of all texts that match, hot and cold, and what it must be given."""
    one = "SELECT rowid, " + FUNCTION + "({0}, :counts) AS score FROM {0} WHERE {0} MATCH :match"
    return f"SELECT rowid, score FROM ({one.format('words')} UNION ALL {one.format('cold_words')})", {
        "counts": _counts(view, match)
    }


def _counts(view: SqlView, match: str) -> str:
    """[texts, words a text, {token: idf}] over both tables, for the tokens of a match expression."""
    sizes = view.query(
        f"SELECT {FUNCTION}(words) FROM words WHERE rowid = (SELECT id FROM words_docsize LIMIT 1)"
        f" UNION ALL SELECT {FUNCTION}(cold_words) FROM cold_words"
        " WHERE rowid = (SELECT id FROM cold_words_docsize LIMIT 1)"
    )
    rows = tokens = 0
    for (told,) in sizes:
        some, more = orjson.loads(told)
        rows, tokens = rows + some, tokens + more
    quoted = dict.fromkeys(match.split('"')[1::2])
    found = view.frequencies(quoted)
    idf = {token: _idf(rows, found.get(token, 0)) for token in quoted}
    return orjson.dumps([tokens / max(rows, 1), idf]).decode()


def _idf(rows: int, hits: int) -> float:
    worth = math.log((rows - hits + 0.5) / (hits + 0.5))
    return worth if worth > 0 else 1e-6


def rank_in_all(api: apsw.FTS5ExtensionApi, /, *counts: Any) -> Any:
    """The FTS5 function: without counts, how many texts and words the table has; else a row's score."""
    if not counts:
        return orjson.dumps([api.row_count, api.column_total_size()]).decode()
    mean, idf = _decoded(api, counts[0])
    norm = K1 * (1 - B + B * api.column_size() / mean)
    score = 0.0
    for phrase, worth in enumerate(idf):
        if worth:
            often = 0.0
            for column in api.phrase_columns(phrase):
                for _ in api.phrase_column_offsets(phrase, column):
                    often += COLUMN_WEIGHTS[column]
            if often:
                score += worth * (often * (K1 + 1) / (often + norm))
    return -score


def _decoded(api: apsw.FTS5ExtensionApi, counts: str) -> tuple[float, list[float]]:
    """The counts in the order of the expression's phrases, read once for a query."""
    held: tuple[float, list[float]] | None = api.aux_data
    if held is None:
        mean, idf = orjson.loads(counts)
        held = api.aux_data = mean, [idf.get(phrase[0] or "", 0.0) for phrase in api.phrases]
    return held
