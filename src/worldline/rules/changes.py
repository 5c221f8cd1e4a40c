"""Which held facts a message overtakes: it speaks of a change in the same matter, in whatever words.

The last resort after the slots: a change cue alone ends nothing, and neither does a shared word. Both
together do, where the message is about the same subject and either names the old value or gives a
new one of the same kind. Closing what still holds is the worst error, so anything that says "also",
"still" or "for two weeks" ends nothing. Where no rule knows, it is weighed (`rules/matter.py`).

    held "Tess's left arm is in cast", then "The cast came off" → over
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from worldline.lexicon import ALIKE, told
from worldline.lexicon import words as listed
from worldline.reading.claim import (
    PLAN,
    Claim,
    Cues,
    aspects,
    content_stems,
    is_given_name,
    opposites,
    stem,
    stems_of_each,
)
from worldline.reading.families import bare, families
from worldline.reading.whom import FRESH
from worldline.rules.matter import (
    FEW,
    LIKELY,
    NUMBER,
    PASSED,
    Around,
    Beside,
    ToldSentence,
    around_each,
    bond,
    can_be_over,
    has_passed,
    is_of_another_number,
    is_over,
    is_somebody,
    kind_of,
    likely_meant,
    odds_over,
    same_subject,
    thing_kinds,
)
from worldline.rules.slots import HeldValue
from worldline.text import fold

DAY = 86_400_000_000
_PLACES = frozenset("in at on under inside behind near into to outside".split())


class Overtaken(NamedTuple):
    """A fact that is over, the reason, and what the sentence that says so claims."""

    fact: Around
    reason: str
    claims: Sequence[Claim]

    def when(self, said_at: int) -> int:
        """When it is over: at once, or from the day on for which the sentence announces something else."""
        days = [c.valid_from for c in self.claims if c.kind != "date" and c.valid_from is not None]
        return days[0] if days and days[0] > said_at + DAY else said_at  # what was done tonight is done


@lru_cache(maxsize=1024)
def _apart(held: HeldValue, subject: str, speaker: str) -> Around:
    """A held fact in stems; messages that come one after the other are compared with the same facts."""
    return around_each([(held, subject)], speaker)[0]


def ended_by(
    said: Iterable[ToldSentence],
    facts: Sequence[tuple[HeldValue, str]],
    speaker: str,
    teller: str,
    beside: Beside,
) -> dict[str, Overtaken]:
    """Which held facts, each with its subject's name, the nearest first, are over by a message, by id.

    By a rule, where message and fact share a word; else most likely. A sentence is about one matter: what shares no
    word with it is over only where nothing else is, but for what was told in one breath.
    """
    apart = {held.id: _apart(held, name, speaker) for held, name in facts}
    found: dict[str, Overtaken] = {}
    for each in said:
        matters = frozenset((*each.cues.stems, *such_things(each.cues, each.claims)))
        named = {i: f for i, f in apart.items() if not matters.isdisjoint(f.subject | f.relation | f.object)}
        by_rule = dict(overtaken(each.cues, each.claims, named.values(), teller))
        over = [apart[i] for i in by_rule if is_over(each, apart[i], beside, by_rule=True)]
        if each.decides:
            others = apart if not over else named
            able = (f for i, f in others.items() if i not in by_rule and can_end(each, f, teller))
            over += of_one_matter(each, islice(able, FEW), beside)
        reasons = ((fact, by_rule.get(fact.held.id, MOST_LIKELY)) for fact in over)
        found |= {fact.held.id: Overtaken(fact, reason, each.claims) for fact, reason in reasons}
    return found


def of_one_matter(said: ToldSentence, facts: Iterable[Around], beside: Beside) -> list[Around]:
    """The fact that is most likely over, and what else is that was told in one breath with it and speaks of the same.

    A message is about one matter: whatever else was said in that breath goes on.
    """
    read = [(odds_over(said, fact, beside), fact) for fact in facts]
    over = [(odds, fact) for odds, fact in read if odds is not None and odds > LIKELY]
    if not over:
        return []
    best = max(over, key=lambda one: one[0])[1]
    breath = [fact for _, fact in over if fact.held.said == best.held.said]
    return [fact for fact in breath if fact is best or _speaks_of_it(fact, best)]


def _speaks_of_it(fact: Around, other: Around) -> bool:
    """Whether a fact shares a word with another one, and not only the name of what it is about."""
    return not (fact.relation | fact.object).isdisjoint(other.subject | other.relation | other.object)


def can_end(said: ToldSentence, fact: Around, teller: str) -> bool:
    """Whether a sentence can end a fact: it neither says it again nor is news of somebody else."""
    if not can_be_over(said, fact, teller) or _is_kept(said.claims, fact):
        return False
    return not any(_of_another(c, fact) or _is_news_of_another(c, fact) for c in said.claims)


def taken_back(
    said: Iterable[ToldSentence],
    facts: Sequence[tuple[HeldValue, str]],
    speaker: str,
    teller: str,
    beside: Beside,
) -> Around | None:
    """Which held fact a message most likely takes back, where it does not say so in words that a rule knows."""
    apart = [_apart(held, name, speaker) for held, name in facts]
    able = ((each, f) for each in said if each.may_correct for f in apart if can_end(each, f, teller))
    return likely_meant(able, beside)


MOST_LIKELY = "the text most likely tells of a change in this matter"


def overtaken(
    cues: Cues, claims: Sequence[Claim], facts: Collection[Around], teller: str = ""
) -> list[tuple[str, str]]:
    """(id, reason) of the held facts that are over by what the message says, as a rule tells."""
    if not cues.may_end or len(cues.stems) > LONG:
        return []
    said = frozenset(cues.stems)
    often = Counter(word for fact in facts for word in fact.key_words)
    placed = [c for c in claims if any(_has_its_place(c, fact) for fact in facts)]
    found = []
    for fact in facts:
        kept = has_passed(fact.held) or _is_kept(claims, fact)
        reason = "" if kept else _excluded(fact, cues, teller)
        if not (kept or reason) and not cues.change:
            gone = any(_leaves(c, fact) for c in claims)
            reason = "the text says that they left" if gone else ""
        elif not (kept or reason):
            settled = any(c.key == fact.held.slot and _settles(c, fact) for c in claims)
            settled = settled or (fold(fact.held.teller) != fold(teller) and _says_the_like(claims, fact))
            alone = all(often[word] == 1 for word in fact.key_words & said)
            reason = _reason(cues, said, claims, fact, settled, placed, alone)
        if reason:
            found.append((fact.held.id, reason))
    return found


def _is_kept(claims: Sequence[Claim], fact: Around) -> bool:
    """Whether what is held is said again."""
    return any(_restates(c, fact) and not _taken_from(c, fact) for c in claims)


def _settles(claim: Claim, fact: Around) -> bool:
    """Whether a claim found the held fact in its slot; "the grant deadline" has none of "the grant application"."""
    same = fold(claim.subject) == fold(fact.name)
    return same or (claim.effect != "begins" and same_subject(claim, fact))


def _says_the_like(claims: Sequence[Claim], fact: Around) -> bool:
    """Whether somebody else says the same of the same thing with another value: they disagree."""
    return any(same_subject(c, fact) and content_stems(c.predicate) == fact.relation for c in claims)


SHORT = 8
"""So few words are all about the value that they correct."""
LONG = 12
"""A sentence with more words that tell something is about more than one matter, and ends none by the way.

Of 217 endings in little histories by five hands none stood in a sentence of more than 11; of 123 in long chats, nearly
all of them wrong, 82 stood in one of more than 12.
"""


def concerns(cues: Cues, matter: str) -> bool:
    """Whether a correction may speak of some matter: it is short, or shares a word with it."""
    return len(cues.stems) <= SHORT or not content_stems(matter).isdisjoint(cues.stems)


def _restates(claim: Claim, fact: Around) -> bool:
    """Whether a claim says the held thing again, so that nothing is over."""
    slot = fact.held.slot
    if claim.effect == "ends" or claim.negated:
        return False
    chosen = (
        slot in _BEING and not _CHOSEN.isdisjoint(claim.predicate.split()) and claim.predicate.endswith("as")
    )
    if chosen and fold(claim.subject) == fold(fact.name):
        return fact.object <= content_stems(claim.object)  # "was voted in as treasurer again"
    same = claim.key == slot or slot in claim.others or {claim.key, slot} <= _BEING
    return same and fold(claim.object) == fold(fact.held.object)


_CHOSEN = frozenset("voted elected appointed chosen picked named confirmed".split())


ABOUT = 0.6
"""So much of what a subject is called makes a message one about it."""


def _shared(fact: Around, said: frozenset[str]) -> float:
    return len(fact.subject & said) / len(fact.subject) if fact.subject else 0.0


def _has_its_place(claim: Claim, fact: Around) -> bool:
    """Whether a claim follows what is held in its own slot: "moved to Turin" of who lived in Rome is no employer."""
    return claim.key == fact.held.slot and fold(claim.subject) == fold(fact.name)


def _reason(
    cues: Cues,
    said: frozenset[str],
    claims: Sequence[Claim],
    fact: Around,
    settled: bool,
    placed: Sequence[Claim],
    alone: bool,
) -> str:
    if any(is_of_another_number(c, fact) for c in claims):
        return ""
    shared = _shared(fact, said - frozenset(cues.owners))
    about = shared > ABOUT
    named = bool(fact.key_words & said) and (about or not any(_of_another(c, fact) for c in claims))
    if named and not about and not cues.ends and any(_is_news_of_another(c, fact) for c in claims):
        named = False
    if any(_leaves(c, fact) for c in claims):
        return "the text says that they left"
    if any(_gives_up(c, fact, said) for c in claims):
        return "the text says that they gave it up"
    if not named and (fact.of_speaker or about) and _is_such_a_thing(fact, cues, claims):
        return "the text says what became of such a thing"
    named = named and fact.held.kind != "date" and _is_meant(fact, cues, claims)
    gone = cues.ends and any(_is_done_with(c, fact) for c in claims)
    pointed = named and (
        _is_pointed_at(fact, cues, claims) or (alone and (gone or _is_all_about(fact, cues, about)))
    )
    if pointed and _may_end(fact, cues, claims) and _is_at_stake(fact, cues, about):
        return "the text names it and speaks of a change"
    kind = kind_of(fact.held.object, fact.held.kind)
    about = about or (kind in ("date", "money") and shared >= 0.5)
    theirs = not about and any(
        _is_person(c.subject) and not _same_people(c.subject, fact.name) for c in claims
    )
    about = about or (not theirs and any(t and frozenset(t) <= fact.relation for _, t in cues.moved))
    about = about or any(_is_near(c, fact) for c in claims)
    gone = cues.leaves and content_stems(fact.name) <= said
    if any(_taken_from(c, fact, gone) for c in claims):
        return "somebody else has it now"
    mine = (
        fact.of_speaker and not fact.subject and bool(fact.relation & said) and (cues.own or not cues.owners)
    )
    if settled or not (about or mine):
        return ""
    same = not is_somebody(fact) or bool(fact.relation & said)
    other = any(_is_former(c) or _of_such_another(c, fact, kind) for c in claims)
    if not fact.many and same and _may_be_new(kind, cues) and not other and not fact.object <= said:
        return "the text gives another value for the same matter and speaks of a change"
    if any(_done_to(verb, set(thing), fact, kind) for verb, thing in cues.moved):
        return "the text speaks of a change of this very thing"
    apart = [c for c in claims if c not in placed or fact.relation & content_stems(c.predicate)]
    if any(_new_value(c, fact, kind) for c in apart):
        return "the text gives another value for the same matter and speaks of a change"
    return ""


def _is_former(claim: Claim) -> bool:
    """ "Back in 1998 the club had 90 members": how many there were then says nothing of now."""
    then = claim.key.startswith("was ") or (claim.key.startswith("did ") and claim.predicate == "had")
    return then and bool(NUMBER.search(claim.object))


def _of_such_another(claim: Claim, fact: Around, kind: str) -> bool:
    """ "The Pilates class has gone up to £9" says nothing of the yoga class."""
    if kind == "date" or kind != kind_of(claim.object, claim.kind):
        return False
    mine = content_stems(claim.subject) - (content_stems(fact.name) - fact.subject) - thing_kinds()
    return bool(mine & fact.subject and mine - fact.subject - fact.relation and fact.subject - mine)


_POSSESSING = frozenset(
    "has owns own drives drive rides ride uses use wears wear smokes smoke keeps keep have".split()
)
_WITH = ("is with", "am with", "are with", "is on", "are on")


def _is_such_a_thing(fact: Around, cues: Cues, claims: Sequence[Claim]) -> bool:
    """Whether what somebody has is named by its kind: the Passat, where "the old car was scrapped"."""
    held = fact.held
    if not cues.ends or held.kind == "date" or _is_person(held.object):
        return False
    if held.phrase.split(" ")[0] not in _POSSESSING and held.phrase not in _WITH:
        return False
    told_of = _spoken_of(cues, claims) - fact.subject
    return any(not fact.key_words.isdisjoint(told(word)) for word in told_of)


MOST = 100
"""So many words for things of the kinds that a message speaks of are looked for."""


def such_things(cues: Cues, claims: Sequence[Claim]) -> list[str]:
    """The stems of what may be of a kind that a message speaks of and says to be over."""
    kinds = sorted(_spoken_of(cues, claims)) if cues.ends else ()
    return list(dict.fromkeys(word for kind in kinds for word in told(kind)))[:MOST]


def _spoken_of(cues: Cues, claims: Sequence[Claim]) -> frozenset[str]:
    """The stems of the things that a message is about: what it changes, and the ends of what it claims."""
    parts = [part for c in claims for part in (c.subject, c.object) if not NUMBER.search(part)]
    return frozenset(word for _, thing in cues.moved for word in thing).union(*stems_of_each(parts))


def _is_at_stake(fact: Around, cues: Cues, about: bool) -> bool:
    """Whether the named thing may be meant by itself: a day, a number or a person is named in many a matter."""
    if about:
        return True
    said = frozenset(cues.stems)
    if _is_person(fact.held.object) and not cues.leaves and fact.relation.isdisjoint(said):
        return False
    if all(word.isdigit() for word in fact.key_words) or fact.key_words <= _WEEKDAYS:
        return False
    return fact.of_speaker or fact.object <= said


_WEEKDAYS = frozenset(stem(f"{day}day") for day in "mon tues wednes thurs fri satur sun".split())


def _is_person(value: str) -> bool:
    """Whether a value is somebody: a given name, or a title and a name."""
    first = value.split()[0] if value.split() else ""
    return value[:1].isupper() and (
        is_given_name(first.lower()) or first.lower().rstrip(".") in listed("titles.txt")
    )


_COPULA = re.compile(r"^(?:is|are|am)\b ?")


def _may_be_new(kind: str, cues: Cues) -> bool:
    """Whether a message states a value of the kind of the held one; a number is one where something changed."""
    given = {kind, "number"} if cues.ends and kind == "money" else {kind}
    valued = kind in ("date", "money", "contact") or (kind == "number" and cues.ends)
    return valued and not given.isdisjoint(cues.kinds)


def _excluded(fact: Around, cues: Cues, teller: str) -> str:
    """Why "Ticket 12 is open" is over by "Closed ticket 12": the same voice tells of a state that excludes it."""
    held, said = fact.held, frozenset(cues.stems)
    mine = fact.of_speaker and not fact.subject and cues.own
    if not (mine or _shared(fact, said) > ABOUT) or fold(held.teller) != fold(teller):
        return ""
    state = f"{_COPULA.sub('', held.phrase)} {held.object}" if _COPULA.match(held.phrase) else held.object
    state = state.strip().lower()
    others = opposites().get(state) or opposites().get(state.split(" with ")[0].split(" at ")[0], frozenset())
    return "the text says that it is otherwise now" if any(other <= said for other in others) else ""


def _leaves(claim: Claim, fact: Around) -> bool:
    """ "… since Agnes retired", "Agnes resigned as chair": whoever goes has no such role any longer."""
    tie = bond(fact)
    if claim.effect != "ends" or tie == "kin":
        return False
    who, role, holder = content_stems(claim.subject), content_stems(claim.object), content_stems(fact.name)
    left = role <= holder and bool(role) if tie else role <= fact.relation | fact.subject | holder
    return bool(who) and who <= fact.object and left  # who retires stays married


def _gives_up(claim: Claim, fact: Around, said: frozenset[str]) -> bool:
    """ "left teaching" ends what somebody teaches; "switched Chartly from Basic" ends Chartly's Basic plan."""
    if claim.effect == "ends" and claim.object.endswith("ing") and fold(claim.subject) == fold(fact.name):
        return content_stems(claim.object) <= fact.relation and bool(fact.relation)
    if not claim.replaces or bond(fact):
        return False
    old = content_stems(claim.replaces)
    same = fold(claim.subject) == fold(fact.name) or not (fact.object - old).isdisjoint(said)
    return bool(old) and old <= fact.object and same


_WHOSE = re.compile(r"^[A-Z]\w*'s ")
_HANDLING = frozenset("give bring find send learn get".split())


def _is_pointed_at(fact: Around, cues: Cues, claims: Sequence[Claim]) -> bool:
    """Whether it is this very thing that changes: its name stands there, the verb of change is done to it, or a
    claim about the same subject denies, begins or ends it. That "love" and "new" are said tells nothing of a love.
    """
    said = frozenset(cues.stems)
    told = cues.ends or cues.leaves or len(cues.stems) <= SHORT
    if (
        told
        and any(w[:1].isupper() for w in _WHOSE.sub("", fact.held.object).split())
        and fact.key_words <= said
    ):
        return True
    own = fact.object | fact.subject | fact.relation | thing_kinds()
    if any(fact.key_words & set(t) and own.issuperset(t) and v not in _HANDLING for v, t in cues.moved):
        return True
    aspect = _aspect(fact.held.slot, fact.held.phrase)
    if fact.subject and any(fact.subject <= set(t) and aspect in aspects().get(v, ()) for v, t in cues.moved):
        return True  # "left the parcel with the porter"
    return any(_is_same_thing(c, fact) and (c.effect != "holds" or c.negated) for c in claims)


def _is_same_thing(claim: Claim, fact: Around) -> bool:
    thing = content_stems(claim.object)
    same = bool(thing) and (thing <= fact.object or fact.object <= thing)
    whose = claim.effect == "ends" and fold(fact.name).startswith(f"{fold(claim.subject)}'s ")
    return same and (whose or fold(claim.subject) == fold(fact.name))  # "Tom got his cast off", of Tom's leg


_GONE_FROM = frozenset("sold gone scrapped stolen lost dead cancelled finished".split())


def _is_done_with(claim: Claim, fact: Around) -> bool:
    """ "the cast came off", "the caravan is sold": something happened to the held thing itself."""
    owner, _, own = claim.subject.rpartition("'s ")
    thing = content_stems(own if fold(owner) == fold(fact.name) else claim.subject)
    happened = claim.key.startswith("did ") or claim.object in _GONE_FROM
    return happened and bool(thing) and thing <= fact.object


def _is_all_about(fact: Around, cues: Cues, about: bool) -> bool:
    """Whether a short message of whom the fact is about names the whole of something that can be had."""
    mine = about or (fact.of_speaker and cues.own)
    short = len(cues.stems) <= SHORT and fact.object <= frozenset(cues.stems)
    return mine and short and fact.held.object.lower().split()[-1] not in listed("intangible_nouns.txt")


_GETTING = frozenset("has have got gets".split())
_HAVING = _GETTING | {"is", "are", "needs", "need"}


def _is_meant(fact: Around, cues: Cues, claims: Sequence[Claim]) -> bool:
    """Whether what a message names may itself be over: not if it only has something new, or nothing comes instead."""
    denied = "not" in fact.held.phrase.split()  # "a coffee person" does drink coffee
    beside = frozenset(cues.owners if cues.ends or denied else (*cues.owners, *cues.modifiers))
    if fact.key_words & frozenset(cues.stems) <= beside:
        return False  # "Zoho's colours have changed", "has a new violin teacher"
    altered = [set(thing) for verb, thing in cues.moved if verb in _ALTERING and thing]
    if any(_part_of(fact, thing) for thing in altered):
        return False  # "changed the insurance of the Volvo"
    if any(c.key == "located_in" and content_stems(c.subject) & fact.key_words for c in claims):
        return False  # "left the Volvo at the airport"
    if any(_only_moved(fact, verb, set(thing)) for verb, thing in cues.moved):
        return False  # "the chess club moved to a new room"
    if altered and len(altered) == len(cues.moved) and not any(_touches(fact, thing) for thing in altered):
        return False  # "changed my shift at the museum"
    if fact.held.slot == "name" and not any(_goes(c, fact) for c in claims):
        return False  # a name stays, whatever else is said of who has it
    if cues.ends:
        return True
    instead = frozenset(cues.names) - fact.object - fact.subject - content_stems(fact.name)
    valued = not any(w[:1].isupper() for w in fact.held.object.split()) or bool(instead)
    return valued and not any(_lives_on(c, fact) for c in claims)


_ALTERING = frozenset(
    "change raise lower update renew increase reduce switch move reschedule postpone shift relocate".split()
)


_MOVING = frozenset("move reschedule postpone shift relocate push delay".split())


def _only_moved(fact: Around, verb: str, thing: set[str]) -> bool:
    """Whether the held thing itself comes to another place or day, and is no place or day of anything."""
    aspect = _aspect(fact.held.slot, fact.held.phrase)
    named = fact.held.object[:1].isupper() or fact.held.slot in families().all
    family = families().all.get(fact.held.slot)
    person = family is not None and family.object == "person"
    fixed = person or (named and aspect in ("place", "date", "time", "weekday"))
    return verb in _MOVING and bool(thing) and thing <= fact.object and not fixed


def _touches(fact: Around, thing: set[str]) -> bool:
    return not thing.isdisjoint(fact.object | fact.subject | fact.relation | content_stems(fact.name))


def _part_of(fact: Around, thing: set[str]) -> bool:
    """Whether what is changed is something of the held thing and not the thing itself."""
    more = thing - fact.object - fact.subject - fact.relation - thing_kinds()
    return bool(fact.key_words & thing) and bool(more)


def _goes(claim: Claim, fact: Around) -> bool:
    return bool(content_stems(claim.subject) & fact.key_words) and (
        claim.effect == "ends" or not _GONE.isdisjoint(f"{claim.predicate} {claim.object}".split())
    )


def _lives_on(claim: Claim, fact: Around) -> bool:
    """ "The Yaris got new tyres": what has or is something is not over for that."""
    return bool(content_stems(claim.subject) & fact.key_words) and claim.predicate.split(" ")[0] in _HAVING


def _of_another(claim: Claim, fact: Around) -> bool:
    """ "My flatmate quit nursing" ends nothing that the speaker does, nor what the speaker's father drives."""
    denied = "not" in fact.held.phrase.split()
    if claim.of_speaker or (claim.effect == "begins" and not denied) or not _may_end(fact, Cues()):
        return False
    if "'s " in claim.object:
        return False  # "the doctor raised Ana's dose"
    theirs = content_stems(claim.subject) - fact.subject
    role = claim.subject.rpartition("'s ")[2].split()[-1].lower()
    person = role in listed("person_roles.txt") or is_given_name(claim.subject.split()[0])
    return person and bool(theirs) and bool(fact.key_words & content_stems(claim.object))


def _is_news_of_another(claim: Claim, fact: Around) -> bool:
    """ "Bea has become a nurse at the General": Ann, who is not spoken of, works there still."""
    return (
        _is_person(claim.subject)
        and not claim.of_speaker
        and not _same_people(claim.subject, f"{fact.name} {fact.held.object}")
        and not fact.key_words.isdisjoint(content_stems(f"{claim.predicate} {claim.object}"))
    )


def _done_to(verb: str, thing: set[str], fact: Around, kind: str) -> bool:
    """ "They shunted our office to the basement": something is done to the thing that changes such a value."""
    subject = fact.subject or (fact.relation if fact.of_speaker else frozenset())
    thing = thing - thing_kinds() or thing
    near = bool(subject) and len(subject & thing) >= 0.6 * len(subject)
    if not thing or fact.many or not (thing <= subject | fact.relation and (near or thing & fact.relation)):
        return False
    changed = aspects().get(verb, frozenset())
    return "all" in changed or kind in changed or _aspect(fact.held.slot, fact.held.phrase) in changed


def _may_end(fact: Around, cues: Cues, claims: Sequence[Claim] = ()) -> bool:
    """Kin stay what they are whatever they do, couples until they part; whoever has a role may leave it."""
    family, tie = families().all.get(fact.held.slot.partition(":")[0]), bond(fact)
    if family is None or family.object != "person":
        return True
    if tie:
        return tie == "life" and cues.parts
    busy = any(content_stems(c.subject) <= fact.object and not _leaves_work(c) for c in claims if c.subject)
    return not busy and (cues.leaves or (cues.ends and not _is_person(fact.held.object)))


_WORK = frozenset({"works_at", "works_as", "member_of_team"})
_GONE = frozenset("died dies passed ran left went".split())
_RESIGNED = _GONE - {"went"} | frozenset(
    "resigned retired quit away out fired sacked dismissed departed".split()
)


def _leaves_work(claim: Claim) -> bool:
    """ "has resigned", "left the company"; whoever finished a thesis or left for Paris has the role still."""
    if claim.effect == "ends":
        return not claim.object or claim.key in _WORK
    bare = claim.predicate == "{S} {O}" or claim.object in ("away", "out")
    return bare and not _RESIGNED.isdisjoint(claim.object.split())


def _taken_from(claim: Claim, fact: Around, gone: bool = False) -> bool:
    """ "Carla owns the payments project", then "Payments was reassigned to Dmitri"; `gone` if Carla left."""
    told = gone or claim.effect == "begins" or claim.switches or claim.cue == "closes"
    told = told or claim.object.startswith("new ")
    if not told or claim.negated or fact.held.kind == "date" or claim.key.startswith(PASSED):
        return False
    held = families().all.get(fact.held.slot)
    if held is not None and held.object in ("person", "animal"):
        return False  # nobody takes an uncle over
    if _does_it_now(claim, fact):
        return True
    mine = content_stems(claim.subject)
    thing = bool(mine) and bool(fact.object) and (mine <= fact.object or fact.object <= mine)
    named = [f for key in (claim.key, *claim.others) if (f := families().all.get(key)) is not None]
    begun = claim.effect == "begins" or claim.switches or _sole_verb(fact.held.phrase) in _HAS
    given = begun and (claim.predicate in _BELONGS or any(f.object == "person" for f in named[:1]))
    return thing and given and not _same_people(claim.object, fact.name)


_HAS = frozenset("have own run rent lease occupy".split())
_BELONGS = frozenset({"belongs to", "belong to", "is owned by", "are owned by", "is run by", "are run by"})


def _sole_verb(phrase: str) -> str:
    """The verb of what one does at a time with one thing; empty for any other."""
    verb = bare(phrase.split(" ")[0]) if phrase else ""
    return verb if verb in listed("sole_verbs.txt") else ""


def _does_it_now(claim: Claim, fact: Around) -> bool:
    """ "Elsie does the church flowers now", "Len took over as choir secretary": one has it at a time, another now."""
    slot, role = fact.held.slot, FRESH.sub("", claim.object)
    if {claim.key, slot} <= _BEING and len(role.split()) > 1 and role.split()[-1] in listed("sole_roles.txt"):
        had = fact.held.object if fold(role) == fold(fact.name) else fact.name  # "the team captain is Amina"
        return fold(role) in (fold(fact.name), fold(fact.held.object)) and not _same_people(
            claim.subject, had
        )
    if not _same_thing(claim.object, fact.held.object) or _same_people(claim.subject, fact.name):
        return False
    if not claim.only or (slot in families().all and slot not in _HANDED):
        return False
    now, then = _sole_verb(claim.predicate), _sole_verb(fact.held.phrase)
    if now == then == "have" and " " not in role:
        return False  # two may have the flu
    return bool(now) and (now == then or ({now, then} <= _HAS and then != "own"))


_BEING = frozenset({"works_as", "|be"})
"""Slots of what somebody is."""
_HANDED = frozenset({"owns", "drives"})
"""Families of things that pass from one to another."""


def _same_thing(one: str, other: str) -> bool:
    """ "the spare room" may be our spare room, but no other room."""
    (whose, _, thing), (of, _, known) = one.rpartition("'s "), other.rpartition("'s ")
    told = content_stems(thing)
    return bool(told) and told == content_stems(known) and not (whose and of and fold(whose) != fold(of))


def _same_people(one: str, other: str) -> bool:
    """ "Frank" may be "Uncle Frank"."""
    return not content_stems(one).isdisjoint(content_stems(other))


def _new_value(claim: Claim, fact: Around, kind: str) -> bool:
    """A value of the same kind as the held one, of the same subject, in the same respect."""
    if claim.negated or claim.effect == "ends" or claim.key.startswith(("was ", PLAN)) or _is_former(claim):
        return False
    if claim.event and claim.predicate.split(" ")[0] in _VISITING:
        return False  # "the choir went to Leeds to sing": it rehearses where it did
    counted = kind == "number" and not fact.key_words.isdisjoint(content_stems(claim.object))
    if fact.many and not (claim.switches or counted):
        return False  # who joins another club is in two
    same = same_subject(claim, fact) or _is_ours(claim, fact) or _is_near(claim, fact)
    here = claim.key == fact.held.slot and _aspect(claim.key, "") == "place"
    if not same or kind not in ({"name", "text"} if here else {kind_of(claim.object, claim.kind)}):
        return False
    if kind == "number":
        return True
    days = [frozenset(content_stems(said)) & _WEEKDAYS for said in (claim.object, fact.held.object)]
    if all(days) and days[0].isdisjoint(days[1]) and not claim.switches:
        return False  # who works in the library on Fridays may be in the shop on Saturdays
    if claim.predicate.split(" ")[0] in _GETTING - set(fact.held.phrase.split()):
        return False  # "the choir has a new website": not where it rehearses
    held = _aspect(fact.held.slot, fact.held.phrase)
    if not held and kind in ("text", "name") and not claim.switches:
        state = bool(_COPULA.match(fact.held.phrase)) and claim.effect == "begins"
        return state or not fact.relation.isdisjoint(content_stems(claim.predicate))
    if not held or any(_aspect(key, claim.predicate) == held for key in (claim.key, *claim.others)):
        return True
    open_ = any(not _aspect(key, claim.predicate) for key in (claim.key, *claim.others))
    return open_ and kind not in ("text", "name")  # "starts school" says nothing of mushrooms


_VISITING = frozenset("went came drove travelled flew walked".split())


def _is_ours(claim: Claim, fact: Around) -> bool:
    """ "The hall is too cold for the choir, so we now meet at the Swan": who says "we" speaks for the choir."""
    does = content_stems(claim.predicate)
    return claim.of_speaker and claim.key == fact.held.slot and bool(does) and does == fact.relation


def _is_near(claim: Claim, fact: Around) -> bool:
    """ "switched my phone to Zenny": the same thing as the mobile contract, by another word."""
    (owner, _, thing), (whose, _, _) = claim.subject.rpartition("'s "), fact.name.rpartition("'s ")
    if not claim.switches or not owner or fold(owner) != fold(whose):
        return False
    words = content_stems(thing)
    return bool(words) and all(
        w in fact.subject or any(told(w).get(own, 0.0) >= ALIKE for own in fact.subject) for w in words
    )


def _aspect(slot: str, phrase: str) -> str:
    """What a relation is about: the kind of its family's object, else what its preposition tells."""
    family = families().all.get(slot.partition(":")[0])
    if family is not None:
        return "name" if family.object in ("person", "organisation") else family.object
    last = phrase.split()[-1] if phrase else ""
    return "place" if last in _PLACES else "name" if last == "by" else ""
