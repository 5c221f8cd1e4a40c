"""Secrets: known patterns are taken out before anything is stored; the receipt says what they were.

It knows shapes, not meanings: what looks like a key is replaced by its name in brackets.

>>> redact("use sk-abcdefghijklmnopqrstuvwxyz123456")[0]
'use [redacted: api key]'
"""

from __future__ import annotations

import re

_PATTERNS = (
    ("private key", ("-----begin",),
     r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----"),
    ("aws key", ("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github token", ("gh",),
     r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})\b"),
    ("slack token", ("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("google key", ("aiza",), r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("api key", ("sk-",), r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{24,}"),
    ("web token", ("eyj",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("password in an address", ("://",), r"(?<=://)[^\s/:@]{1,80}:[^\s/:@]{1,80}(?=@)"),
    ("password", ("password: ", "password=", "passwd=", "secret=", "token="),
     r"(?i:(?<=password: )|(?<=password=)|(?<=passwd=)|(?<=secret=)|(?<=token=))[^\s'\",;]{6,}"),
)  # fmt: skip
"""Name, what a text with such a secret holds in lower case (a quick look), and the pattern."""
_COMPILED = tuple((name, hints, re.compile(pattern)) for name, hints, pattern in _PATTERNS)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without secrets, and the names of what was taken out."""
    found: list[str] = []
    low = text.lower()
    for name, hints, pattern in _COMPILED:
        if any(hint in low for hint in hints):
            text, times = pattern.subn(f"[redacted: {name}]", text)
            found += [name] * times
    return text, tuple(found)
