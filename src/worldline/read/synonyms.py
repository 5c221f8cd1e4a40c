"""Everyday words for the same relation, so that a question and a fact need not share a word.

Data and its look-up.  A group joins nouns and verbs that ask for the same thing about a person, a
place, a work or an organisation; phrases are rewritten to one word before a question is read.

    same_idea("profess", "work") is True (both stems)
"""

from __future__ import annotations

import re

from worldline.reading.claim import stem

GROUPS = """
spouse wife husband partner married marry marriage wed consort
child son daughter offspring kid
parent mother father mom dad
sibling brother sister
born birth birthplace birthday native
die died death deceased deathplace
occupation profession job work career employment field trade vocation
employer employ employed employee works workplace
work worked workplace
citizen citizenship national nationality
country nation homeland land
city town municipality metropolis
continent landmass
capital seat
language tongue speak spoken speaks
religion faith belief denomination church creed religious believe worship follow
founder found founded establish established start started set formed
founder creator create created creation
author write wrote written writer novelist
perform performed performer singer sing sang artist portray actor play
create creator created make maker inventor invent design originate origin
develop developer developed software
produce produced producer manufacturer manufacture maker made build
director direct directed manage manager run head
chairperson chair chairman chairwoman president
ceo chief executive
head leader ruler chief
coach trainer manager
headquarters headquartered headquarter base based seat office
broadcast broadcaster broadcasted network air aired channel
educated education study studied school university alma college attend attended student graduate
university college school institution
famous known notable renowned fame masterpiece
sport game discipline athletics
position role plays specialty speciality
music genre musical style
located location situated place lie
location place city
own owner owned belongs possess
member belong membership part
live lives living reside residence home address
affiliated affiliation associated association
"""
PHRASES = {
    r"pass(?:ed|es)? away": "die",
    r"breathed? (?:his|her|their) last": "die",
    r"significant other": "spouse",
    r"better half": "spouse",
    r"(?:seat|cent(?:er|re)) of government": "capital",
    r"head(?:s)? of state|chief(?:s)? of state": "head of state",
    r"\bCEO\b": "chief executive officer",
    r"mother tongue": "language",
    r"alma mater": "university",
    r"make(?:s)? a living": "occupation",
    r"come(?:s)? (?:from|into existence)|came from|hail(?:s|ed)? from|gave rise to": "origin",
}

_GROUPS_OF: dict[str, set[int]] = {}
for _number, _line in enumerate(GROUPS.strip().splitlines()):
    for _word in _line.split():
        _GROUPS_OF.setdefault(stem(_word), set()).add(_number)
_REWRITES = [(re.compile(pattern), word) for pattern, word in PHRASES.items()]
_NONE: frozenset[int] = frozenset()


def same_idea(a: str, b: str) -> bool:
    """Whether two stems stand in one group."""
    return not _GROUPS_OF.get(a, _NONE).isdisjoint(_GROUPS_OF.get(b, _NONE))


def alike(word: str) -> list[str]:
    """The stems that stand in a group with this one."""
    return [other for other in _GROUPS_OF if same_idea(word, other)] if word in _GROUPS_OF else []


def plain(question: str) -> str:
    """The question with set phrases rewritten to single words."""
    for pattern, word in _REWRITES:
        question = pattern.sub(word, question)
    return question
