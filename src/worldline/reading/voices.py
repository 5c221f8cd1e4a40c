"""Who speaks: a person by name, the user of an assistant, or the assistant itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from worldline.lexicon import words
from worldline.text import fold

_USER = frozenset({"user", "human", "me", "customer"})
_MACHINE = frozenset({"assistant", "ai", "bot", "agent", "model", "system", "tool", "chatbot"})


def role_of(speaker: str) -> str:
    """Who speaks: a person by name, the user of an assistant, or the assistant."""
    name = fold(speaker)
    return "user" if name in _USER else "assistant" if name in _MACHINE else "people"


NOBODY = "user"
"""Whom "I" means when nobody says who speaks."""


class SpeakerVoice(NamedTuple):
    """Who says something, and to whom."""

    role: str
    who: str
    """Whom "I" means."""
    addressee: str
    """Empty where it is said to an assistant."""


def voices(said: Sequence[tuple[str, str]], user: str | None) -> list[SpeakerVoice]:
    """The voices of messages, each by its speaker and its recipient, where a user may be bound."""
    return [
        SpeakerVoice(
            role_of(speaker), who_speaks(speaker, user), recipient if is_own_voice(recipient) else ""
        )
        for speaker, recipient in said
    ]


def is_user(speaker: str) -> bool:
    """Whether a message is the user's who has no other name."""
    return not speaker or role_of(speaker) == "user"


def is_own_voice(speaker: str) -> bool:
    """Whether somebody speaks for themselves; an assistant does not."""
    return role_of(speaker) != "assistant"


def who_speaks(speaker: str, user: str | None) -> str:
    """Whom "I" means: the one who is named, or the bound user where the speaker is just "user"."""
    if is_user(speaker) or (user and fold(speaker) == fold(user)):
        named = "" if is_user(speaker) else speaker
        return named or user or speaker or NOBODY
    return speaker


def is_one_person(user: str, speaker: str) -> bool:
    """Whether a bound user and a speaker are one: by the whole name, or the one's within the other's.

    >>> is_one_person("Ana Prado", "ana"), is_one_person("ana.prado@mail.example", "Ana"), is_one_person("Ana", "Ben")
    (True, True, False)
    """
    one, other = ({fold(name) for name in _NAMES.findall(said.partition("@")[0])} for said in (user, speaker))
    return bool(one and other) and (one <= other or other <= one)


_NAMES = re.compile(r"[^\W\d_]{2,}")


def assistants(speakers: Sequence[str]) -> frozenset[str]:
    """Those of the speakers, as they are written, that are no people."""
    return frozenset(name for name in dict.fromkeys(speakers) if role_of(name) == "assistant")


def is_somebody(speaker: str) -> bool:
    """Whether a speaker is a person rather than a desk or a book: nobody is the "I" of "Ops log"."""
    said = speaker.split()
    return (
        bool(said)
        and said[-1].lower() not in words("desks.txt")
        and not (len(said) > 1 and said[-1].islower())
    )


def is_given_name(word: str) -> bool:
    """Whether a word is known as somebody's first name."""
    return fold(word) in words("given_names.txt") or fold(word) in words("given_names_more.txt")
