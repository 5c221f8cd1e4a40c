"""Secrets: known patterns are taken out before anything is stored; the receipt says what they were.

It knows shapes, not meanings: what looks like a key is replaced by its name in brackets.

>>> redact("use sk-abcdefghijklmnopqrstuvwxyz123456")[0]
'use [redacted: api key]'
"""

from __future__ import annotations

import re

_PATTERNS = (
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----"),
    ("aws key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})\b"),
    ("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("google key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("api key", r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{24,}"),
    ("web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("password in an address", r"(?<=://)[^\s/:@]{1,80}:[^\s/:@]{1,80}(?=@)"),
    ("password", r"(?i:(?<=password: )|(?<=password=)|(?<=passwd=)|(?<=secret=)|(?<=token=))[^\s'\",;]{6,}"),
)
_COMPILED = tuple((name, re.compile(pattern)) for name, pattern in _PATTERNS)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without secrets, and the names of what was taken out."""
    found: list[str] = []
    for name, pattern in _COMPILED:
        text, times = pattern.subn(f"[redacted: {name}]", text)
        found += [name] * times
    return text, tuple(found)
