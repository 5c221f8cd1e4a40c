"""What a new claim does to what is already believed: repeats, adds, continues a series, closes, contradicts.

Decides from the wording, the slot and the authority of both sides, and says why in words.  Closing a
fact that still holds is the worst error, so without a reason to close both are kept.  It neither
stores nor dates anything: the engine places the fact in its slot by valid time.

    "I live in Porto" then "I live in Lisbon": closes; "I visited Rome", "I visited Oslo": adds.

A fact in a slot is said as an English sentence: a phrase stands between subject and object ("lives in"), behind an
owner ("'s sister is"), or is a sentence with two gaps ("{O} runs {S}") where the object is what it is about.

>>> sentence("Ana", "lives in", "Rome"), sentence("bakery", "{O} runs {S}", "Dora")
('Ana lives in Rome', 'Dora runs bakery')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from worldline.lexicon import words
from worldline.reading.claim import PLAN, Claim, is_given_name, predicate_key, stem
from worldline.reading.families import bare, families
from worldline.text import fold, word_set

Verb = Literal["opens", "repeats", "adds", "series", "closes", "contradicts", "ends"]
MEASURES = word_set(
    "count times money duration frequency clock weekday percent distance weight age "
    "page level ordinal "
    "score size rate temperature version"
)
RANKS = {"given": 3, "user": 2, "other": 1, "inferred": 0}


class HeldValue(msgspec.Struct, frozen=True):
    """A currently believed fact of the same subject, as far as this decision needs it."""

    id: str
    slot: str
    object: str
    kind: str = "entity"
    one: bool = False  # its slot was decided to hold one value at a time
    rank: str = "other"
    valid_from: int | None = None
    dated: bool = False  # the date was stated, not taken from the time said
    teller: str = ""  # who said it first
    phrase: str = ""
    said: str = ""  # the words that it was drawn from, where they were looked up,
    at: int = 0  # and where in them it stands


class Decision(msgspec.Struct, frozen=True):
    """What to do, under which slot to store, and which facts end."""

    verb: Verb
    slot: str
    one: bool = False
    closes: tuple[str, ...] = ()
    reason: str = ""


class KnownSlot(Protocol):
    """What the store knows about names and slots, for meeting of wordings."""

    def kinds(self, name: str) -> frozenset[str]:
        """Stems of the type nouns a folded name was worded with ("the city of …"), not of its roles."""

    def typed(self, key: str) -> frozenset[str]:
        """Kinds with which a predicate key was ever worded."""


class Nothing:
    """Nothing is known yet."""

    def kinds(self, name: str) -> frozenset[str]:
        return frozenset()

    def typed(self, key: str) -> frozenset[str]:
        return frozenset()


NOTHING = Nothing()


def slot_of(claim: Claim) -> str:
    """The slot's own name: predicate key, and what tells two slots of one predicate apart."""
    if claim.kind in MEASURES:
        return f"{claim.key}#{claim.kind}" + (f":{claim.unit}" if claim.unit else "")
    words = claim.key.split("|")[0].split()
    kind = claim.types[0] if claim.types else ""
    return claim.key if not kind or stem(kind) in words else f"{claim.key}#{stem(kind)}"


def decide(claim: Claim, held: Sequence[HeldValue], known: KnownSlot = NOTHING, teller: str = "") -> Decision:
    """The effect of a claim on the current facts of its subject; what is only announced touches none of them."""
    decision = _decide(claim, held, known, teller)
    if decision.verb not in _TOUCHING or not (claim.ahead and _waits(decision.slot)):
        return decision
    slot = f"{PLAN}{decision.slot}" if claim.object else ""
    return Decision("opens", slot, False, (), "it is announced, and what holds stays until then")


_TOUCHING = frozenset({"closes", "ends", "contradicts"})
_SCHEDULED = frozenset({"date", "time", "weekday"})


def _waits(slot: str) -> bool:
    """Whether a value of now stays when another is announced: when and where an event will be is planned anyway."""
    family = families().all.get(slot.partition(":")[0])
    if family is None or family.object in _SCHEDULED:
        return False
    return family.object != "place" or family.subject == "person"


_IS = re.compile(r"^(?:is|are|am)\b|(?<= )(?:is|are)$")


def announced(phrase: str) -> str:
    """How something reads that is still to come.

    >>> announced("lives in"), announced("'s manager is"), announced("will take over")
    ('will live in', "'s manager will be", 'will take over')
    """
    if phrase.startswith(("will ", "{")) or _IS.search(phrase):
        return _IS.sub("will be", phrase)
    first, gap, rest = phrase.partition(" ")
    return phrase if first.startswith("'") else f"will {bare(first)}{gap}{rest}"


def _decide(claim: Claim, held: Sequence[HeldValue], known: KnownSlot, teller: str) -> Decision:
    if _is_of_family(claim):
        return _by_family(claim, held, teller)
    slot = join(claim, held, known)
    mates = [h for h in held if h.slot == slot]
    if claim.cue == "ends":
        return _ending(claim, slot, mates, held)
    named = _named(claim, held)
    same = [h for h in mates if _same_object(claim, h)]
    if same and not named:
        return Decision("repeats", slot, same[0].one, (), "the same was already believed")
    rivals = named or [h for h in mates if h not in same]
    one, why = _one_at_a_time(claim, slot, rivals, mates)
    if not rivals:
        return Decision("opens", slot, one, (), "nothing was believed of this yet")
    if not one and not named:
        return Decision("adds", slot, False, (), why)
    if not claim.cue and not named and claim.valid_from is None and _told_by_others(rivals, teller):
        return Decision("contradicts", slot, one, (), AT_ODDS)
    return _replace(claim, slot, rivals, why, one)


def looks_into(claim: Claim, slots: Callable[[], Collection[str]]) -> frozenset[str] | None:
    """The slots of its subject, of those that hold anything, into which deciding a claim looks; None for all."""
    return _into(claim, slots() if joins(claim) else ())


def _into(claim: Claim, slots: Collection[str]) -> frozenset[str] | None:
    """The same; what speaks of a value that is over may mean it wherever it stands."""
    if claim.replaces or claim.effect == "ends" or claim.cue == "ends" or claim.key.endswith("|of"):
        return None
    return names_of(claim) | frozenset(
        slot for slot in slots if not _is_of_family(claim) and _may_meet(claim, slot)
    )


def names_of(claim: Claim) -> frozenset[str]:
    """The slots that a claim names itself, their denials, and those that it ousts."""
    own = (claim.key, *claim.others, slot_of(claim))
    ousted = (slot for name in own if (family := families().all.get(name)) for slot in family.ousts)
    return frozenset((*own, *(NOT + name for name in own), *ousted))


def joins(claim: Claim) -> bool:
    """Whether a claim may belong into a slot that words the same thing otherwise."""
    return not _is_of_family(claim)


def looked_into(
    claims: Sequence[tuple[Claim, int]], slots_of: Callable[[Collection[int]], Mapping[int, Collection[str]]]
) -> dict[int, frozenset[str] | None]:
    """The slots of each subject into which deciding these claims may look, whichever way round; None for all.

    `slots_of` tells which slots of some subjects hold anything.
    """
    joining = any(joins(claim) for claim, _ in claims)
    held = slots_of({line for _, line in claims}) if joining else {}
    into: dict[int, frozenset[str] | None] = {}
    for claim, line in claims:
        for way in (claim, oriented(claim, lambda key: True)):
            more, known = _into(way, held.get(line, ())), into.get(line, frozenset())
            into[line] = None if more is None or known is None else known | more
    return into


def _is_of_family(claim: Claim) -> bool:
    return bool(claim.holds or claim.effect != "holds" or claim.negated)


def _may_meet(claim: Claim, slot: str) -> bool:
    """Whether `join` could put a claim there, whatever the objects of the slot are known to be."""
    key, _, kind = slot.partition("#")
    if claim.kind in MEASURES:
        return kind.partition(":")[0] == claim.kind
    stems, own = key.partition("|")[0], claim.key.partition("|")[0]
    return stems == own or key.endswith(("|of", "|by")) or _related(stems, own)


AT_ODDS = "two sources disagree, and neither speaks of a change"


def _told_by_others(rivals: Sequence[HeldValue], teller: str) -> bool:
    return any(teller and h.teller and fold(h.teller) != fold(teller) for h in rivals)


NOT = "not "
"""Opens the slot of what is said not to be so."""


def _by_family(claim: Claim, held: Sequence[HeldValue], teller: str) -> Decision:
    """The effect of what was read as one of a family, or with a wording that says how many values it holds."""
    slot = next((s for s in (claim.key, *claim.others) if any(h.slot == s for h in held)), claim.key)
    if slot != claim.key:
        claim = _as_one_of(claim, slot)
    mates = [h for h in held if h.slot == slot]
    if claim.effect == "ends":
        return _over(claim, slot, mates, held)
    denied = [h for h in held if h.slot == NOT + slot and _covers(claim.object, h.object)]
    if claim.negated:
        return _denial(claim, slot, mates, held)
    same = [h for h in mates if _is_called(claim.object, h.object)]
    named = [
        h for h in held
        if claim.replaces and h not in same and not h.slot.startswith(NOT) and _covers(claim.replaces, h.object)
    ]  # fmt: skip
    if named and not mates:
        slot = named[0].slot
    if same and not named:
        return Decision("repeats", slot, same[0].one, (), "the same was already believed")
    rivals = [h for h in mates if h not in same]
    one = claim.holds == "one"
    if claim.cue == "correction" and rivals:
        wrong = named or (rivals if one else rivals[-1:])
        return Decision("closes", slot, one, tuple(h.id for h in wrong), "it was wrong: the text corrects it")
    if named:
        return _replace(claim, slot, named, "the text says that it takes its place", one)
    if claim.holds == "series":
        return Decision("series", slot, False, (), "one more reading of the same")
    over = tuple(h.id for h in (*denied, *_ousted(claim, held)))
    once = _happened_once(slot) or (claim.fixed and claim.cue != "adds")
    if rivals and once and _told_by_others(rivals, teller):
        return Decision("contradicts", slot, False, (), AT_ODDS)
    if not rivals:
        return Decision("closes" if over else "opens", slot, one, over, "nothing else was believed of this")
    if one and claim.cue != "adds":
        return _one_value(claim, slot, rivals, teller)
    anew = claim.cue == "closes" and (slot == "uses" or _in_that_role(claim, rivals))
    if (claim.switches or anew) and len(mates) == 1:
        return _replace(claim, slot, rivals, "the text speaks of a switch, and one was believed", one)
    why = "the wording says that it comes on top" if claim.cue == "adds" else "there may be several of these"
    return Decision("adds", slot, False, over, why)


def _in_that_role(claim: Claim, rivals: Sequence[HeldValue]) -> bool:
    """ "has a new piano teacher, Ms Okoro": of piano teachers one has one, whatever other teachers there are."""
    family = families().all.get(claim.key)
    role = claim.predicate.removeprefix("'s ").split()
    named = family is not None and family.object == "person" and not family.bond and len(role) > 2
    return named and all(h.phrase == claim.predicate for h in rivals)


def _ousted(claim: Claim, held: Sequence[HeldValue]) -> list[HeldValue]:
    """What another family holds and cannot hold any longer: whoever gets engaged is not single."""
    family = families().all.get(claim.key)
    if family is None or not family.ousts:
        return []
    return [h for h in held if h.slot in family.ousts]


def _happened_once(slot: str) -> bool:
    """Whether a slot of the past holds one value all the same: what a table cost, where a fire started."""
    if not slot.startswith(("was ", "did ")):
        return False
    family = families().all.get(slot[4:])
    return family.one if family is not None else slot[4:].partition("|")[0] in _ONCE


_ONCE = frozenset({"start", "begin", "happen", "occur", "die", "origin"})


def _as_one_of(claim: Claim, slot: str) -> Claim:
    """The claim as one of another family that its wording fits, which already holds something."""
    family = families().all.get(slot)
    if family is None:
        return claim
    return msgspec.structs.replace(claim, key=slot, holds=family.holds, fixed=not family.changes)


def _one_value(claim: Claim, slot: str, rivals: Sequence[HeldValue], teller: str) -> Decision:
    """Another value where one holds at a time: the later takes the place, two sources at odds contradict."""
    if claim.fixed:
        return Decision("contradicts", slot, True, (), "this cannot change, so one of the two is wrong")
    dated = claim.valid_from is not None and claim.kind != "date"
    says_change = claim.effect == "begins" or claim.cue == "closes" or dated
    if _told_by_others(rivals, teller) and not says_change:
        return Decision("contradicts", slot, True, (), AT_ODDS)
    return _replace(claim, slot, rivals, "there is one at a time, and this is the later one", True)


def _over(claim: Claim, slot: str, mates: Sequence[HeldValue], held: Sequence[HeldValue]) -> Decision:
    """What is said to be over ends: in its slot, or where the thing itself is held under another word."""
    over = [h for h in mates if not claim.object or _covers(claim.object, h.object)]
    if not over and claim.object:
        over = [h for h in held if not h.slot.startswith(NOT) and _same_thing(claim.object, h.object)]
    if over and claim.object:
        over += [h for h in held if h not in over and _is_part_of(claim.object, h)]
    elif (
        claim.object
        and len(days := [h for h in held if h.kind == "date" and _is_part_of(claim.object, h)]) == 1
    ):
        over = days  # "cancelled my eye test", whose day is known
    if not claim.object:
        family = families().all.get(slot)
        over += [h for h in held if family is not None and h.slot in family.along and h not in over]
    ids = tuple(h.id for h in over if not _outranked(claim, h))
    reason = "the text says that it is over" if ids else "nothing believed matches what is said to be over"
    return Decision("ends", slot, False, ids, reason)


def _is_part_of(said: str, held: HeldValue) -> bool:
    """ "plays badminton on Wednesdays" is over when the badminton is."""
    phrase = set(fold(held.phrase).split())
    return bool(said) and set(fold(said).split()) <= phrase and not held.slot.startswith(NOT)


def _denial(claim: Claim, slot: str, mates: Sequence[HeldValue], held: Sequence[HeldValue]) -> Decision:
    """ "I don't live in Paris": ends what says so, touches nothing else, and is kept as a denial."""
    wrong = [h for h in held if not h.slot.startswith(NOT)] if claim.cue == "correction" else []
    over = tuple(
        h.id for h in wrong or mates if fold(claim.object) == fold(h.object) and (wrong or not claim.event)
    )
    if over and wrong:
        return Decision("closes", NOT + slot, False, over, "it was wrong: the text corrects it")
    if any(h.slot == NOT + slot and fold(h.object) == fold(claim.object) for h in held):
        return Decision("repeats", NOT + slot, False, (), "the same was already believed")
    return Decision("closes" if over else "opens", NOT + slot, False, over, "the text denies it")


def corrects(value: str, held: HeldValue) -> bool:
    """Whether a bare value can stand in the place of a held one: another of the same shape and unit."""
    a, b = fold(value), fold(held.object)
    if (
        a == b
        or any(c.isdigit() for c in a) != any(c.isdigit() for c in b)
        or len(a.split()) > len(b.split()) + 2
    ):
        return False
    if not any(c.isdigit() for c in a):
        return value[:1].isupper() == held.object[:1].isupper()
    if held.kind == "date":
        return True
    units = [{w for w in said.split() if not any(c.isdigit() for c in w)} for said in (a, b)]
    return not units[0] or not units[1] or bool(units[0] & units[1])


def _same_thing(said: str, known: str) -> bool:
    """ "the Panda" and "an old Fiat Panda": the words of one are the last or the naming words of the other."""
    a, b = fold(said).split(), fold(known).split()
    return bool(a) and bool(b) and (set(a) <= set(b) or set(b) <= set(a))


def join(claim: Claim, held: Sequence[HeldValue], known: KnownSlot = NOTHING) -> str:
    """The slot that a claim belongs to: its own, or a held one that words the same thing otherwise."""
    own = _completed(claim, slot_of(claim), known)
    slots = list(dict.fromkeys(h.slot for h in held))
    if own in slots:
        return own
    if claim.kind in MEASURES:
        return _measure_slot(own, slots)
    meeting = [s for s in slots if _meets(claim, own, s, held, known)]
    return meeting[0] if len(meeting) == 1 else own


def _measure_slot(own: str, slots: Sequence[str]) -> str:
    """The held measure of the same kind and unit whose topic is nearest, if it is near enough."""
    key, _, kind = own.partition("#")
    stems = set(key.partition("|")[0].split())
    best, score = own, 0.0
    for slot in slots:
        other, _, other_kind = slot.partition("#")
        if other_kind.partition(":")[0] != kind.partition(":")[0]:
            continue
        unit, other_unit = kind.partition(":")[2], other_kind.partition(":")[2]
        if unit != other_unit and not kind.startswith("duration"):
            continue
        theirs = set(other.partition("|")[0].split())
        shared = len(stems & theirs)
        near = shared / max(1, len(stems | theirs))
        if shared >= 2 and near >= 0.6 and near > score:
            best, score = slot, near
    return best


def _completed(claim: Claim, own: str, known: KnownSlot) -> str:
    """A wording without a type noun takes the one that its object carries, if only one fits."""
    if "#" in own or claim.kind != "entity":
        return own
    fitting = known.typed(own) & known.kinds(fold(claim.object))
    return f"{own}#{next(iter(fitting))}" if len(fitting) == 1 else own


def _meets(claim: Claim, own: str, slot: str, held: Sequence[HeldValue], known: KnownSlot) -> bool:
    """Whether two slot names differ only by a type noun, a possessive form or a related noun."""
    key, _, kind = slot.partition("#")
    if kind.partition(":")[0] in MEASURES:
        return False
    own_key, _, own_kind = own.partition("#")
    stems, _, preposition = key.partition("|")
    own_stems, _, own_preposition = own_key.partition("|")
    if key == own_key or (stems == own_stems and {preposition, own_preposition} == {"of", "in"}):
        if kind and own_kind:
            return False
        carried = known.kinds(fold(claim.object)) if kind else frozenset()
        return not carried & (known.typed(key) - {kind, own_kind})
    if own_key.endswith("|of") and (kind or _carried(slot, held, known)) and " " not in own_stems:
        return own_stems == kind or own_stems in _carried(slot, held, known)
    if key.endswith("|of") and (own_kind == stems or stems in known.kinds(fold(claim.object))):
        return "#" in own or not own_key.endswith("|of")
    if {preposition, own_preposition} == {"of", "by"}:
        return _agent(stems) == _agent(own_stems)  # "its founder is …" and "was founded by …"
    return bool(stems) and _related(stems, own_stems)


def _agent(noun: str) -> str:
    """The verb inside an agent noun, as a stem: founder → found, creator → creat."""
    return noun[:-2] if len(noun) > 5 and noun.endswith(("er", "or")) else noun


def _carried(slot: str, held: Sequence[HeldValue], known: KnownSlot) -> frozenset[str]:
    """What the objects of an untyped slot are known to be."""
    if "#" in slot or "|of" in slot:
        return frozenset()
    return frozenset(k for h in held if h.slot == slot for k in known.kinds(fold(h.object)))


def _related(a: str, b: str) -> bool:
    """One noun derived from the other: citizen, citizenship."""
    short, long = sorted((a, b), key=len)
    return len(short) >= 6 and long.startswith(short) and " " not in long


def _same_object(claim: Claim, held: HeldValue) -> bool:
    if claim.kind == "weekday":
        return fold(claim.object).rstrip("s") == fold(held.object).rstrip("s")
    return fold(claim.object) == fold(held.object)


def _named(claim: Claim, held: Sequence[HeldValue]) -> list[HeldValue]:
    """The facts whose value the text itself says is over."""
    if not claim.replaces:
        return []
    old = fold(claim.replaces)
    own = set(claim.key.split("|")[0].split())
    found = [h for h in held if fold(h.object) == old]
    sharing = [h for h in found if own & set(h.slot.split("|")[0].split())]
    return sharing or (found if len(found) == 1 else [])


def _ending(claim: Claim, slot: str, mates: list[HeldValue], held: Sequence[HeldValue]) -> Decision:
    """ "no longer", "not … any more": what is said to be over ends, and nothing begins."""
    over = [h for h in mates if not claim.object or _covers(claim.object, h.object)]
    over = over or _named(claim, held)
    ids = tuple(h.id for h in over if not _outranked(claim, h))
    reason = "the text says that it is over" if ids else "nothing believed matches what is said to be over"
    return Decision("ends", slot, False, ids, reason)


def _is_called(said: str, known: str) -> bool:
    """The same value, or the first words of a name that has more of them: "Ostra" for "Ostra Steel"."""
    a, b = fold(said), fold(known)
    named = (
        said[:1].isupper() and known[:1].isupper() and known[len(said) : len(said) + 2].strip()[:1].isupper()
    )
    return a == b or (named and not any(c.isdigit() for c in known) and b.startswith(f"{a} "))


def _covers(said: str, known: str) -> bool:
    a, b = fold(said).split(), fold(known).split()
    return a == b or set(a) <= set(b) or set(b) <= set(a)


def _one_at_a_time(
    claim: Claim, slot: str, rivals: Sequence[HeldValue], mates: Sequence[HeldValue]
) -> tuple[bool, str]:
    """Whether the slot holds one value, and the reason."""
    if claim.cue in ("closes", "correction"):
        return (
            True,
            f"the wording marks a {'correction' if claim.cue == 'correction' else 'change'}",
        )
    if claim.cue == "adds":
        return False, "the wording says that it comes on top"
    if claim.event:
        return False, "something that happened does not end something else that happened"
    if claim.kind in MEASURES:
        return (
            claim.cue == "series" or claim.definite,
            "a measure of the same thing: the latest is current",
        )
    key = slot.partition("#")[0]
    stems = set(key.partition("|")[0].split())
    single = claim.definite or claim.record
    if single and any(h.one for h in mates) and not stems & MANY:
        return True, "there is one value at a time"
    if single and key in FUNCTIONAL_KEYS:
        return True, "such a thing holds of one at a time"
    if claim.definite and stems & ONE_AT_A_TIME:
        return True, "there is one of it at a time"
    if claim.record and (claim.definite or "#" in slot or not stems & MANY):
        return True, "a bare record states the current value"
    return False, "nothing says that the old one is over"


def _replace(claim: Claim, slot: str, rivals: Sequence[HeldValue], why: str, one: bool) -> Decision:
    outranked = [h for h in rivals if _outranked(claim, h)]
    if outranked:
        return Decision("contradicts", slot, one, (), "what was believed has the higher authority")
    equal = [
        h for h in rivals if claim.valid_from is not None and h.dated and h.valid_from == claim.valid_from
    ]
    if equal and claim.cue != "correction":
        return Decision("contradicts", slot, one, (), "both are dated to the same moment")
    verb: Verb = "series" if claim.kind in MEASURES and claim.cue != "correction" else "closes"
    return Decision(verb, slot, one, tuple(h.id for h in rivals), why)


def _outranked(claim: Claim, held: HeldValue) -> bool:
    """A lower rank closes no higher one, except the user's own later, dated words."""
    if RANKS[claim.rank] >= RANKS[held.rank]:
        return False
    later = claim.valid_from is not None and (held.valid_from or 0) < claim.valid_from
    return not (claim.rank == "user" and later)


def oriented(claim: Claim, seen: Callable[[str], int]) -> Claim:
    """Turn "Y founded X" into what "X was founded by Y" says, where that is how the slot is known."""
    if not claim.active or claim.kind != "entity":
        return claim
    passive = claim.key.partition("|")[0] + "|by"
    if claim.key.partition("|")[0] not in PASSIVE_MAKING and not seen(passive):
        return claim
    return msgspec.structs.replace(
        claim, subject=claim.object, object=claim.subject, key=passive, active=False, definite=True,
        predicate=f"{{O}} {claim.predicate} {{S}}",
    )  # fmt: skip


_KIN = (("mum", "mom", "mother", "mam", "mummy"), ("dad", "father", "daddy", "papa"),
        ("grandma", "gran", "granny", "nan", "grandmother"), ("grandpa", "granddad", "grandfather"),
        ("brother", "bro"), ("sister", "sis"), ("husband", "hubby"),
        ("boyfriend", "bf"), ("girlfriend", "gf"))  # fmt: skip


def also_called(subject: str, speaker: str, family: str = "") -> list[str]:
    """Other names under which what somebody speaks of may be known: "the cat" is the speaker's cat.

    "Dad" is the speaker's father, and "the rent" may be what the speaker's rent was said to be.
    """
    if not speaker or not subject:
        return []
    owner, _, thing = subject.rpartition("'s ")
    low = thing.lower()
    same = [f"{owner}'s {name}" if owner else name for name in _same_kinds(thing)]
    return [*_titled(subject), *_as_kin(owner, low, subject, speaker, family), *same]


def _titled(subject: str) -> list[str]:
    """ "Uncle Sol" may be known as "Sol", and "Sol" as "Uncle Sol"."""
    title, _, name = subject.partition(" ")
    if name:
        return [name] if title.lower() in words("titles.txt") else []
    return [f"{kin} {subject}" for kin in _KIN_TITLES] if subject[:1].isupper() else []


_KIN_TITLES = "aunt auntie aunty uncle grandma granny gran nan grandpa grandad granddad".split()


def _same_kinds(thing: str) -> list[str]:
    """ "Heron", "Project Heron" and "the Heron project" are one thing; so is "the bridge on Mill Lane"."""
    kinds, said = words("thing_kinds.txt"), thing.split()
    if len(said) > 4 or is_given_name(said[0]):
        return []
    if len(said) > 1 and (said[0].lower() in kinds or said[-1].lower() in kinds):
        rest = said[:-1] if said[-1].lower() in kinds else said[1:]
        whole = " ".join(rest)
        kind = said[-1] if said[-1].lower() in kinds else said[0]
        return [
            whole,
            *(f"{kind} {prep} {the}{whole}" for prep in ("on", "in", "at", "of") for the in ("", "the ")),
        ]
    return [name for kind in sorted(kinds) for name in (f"{thing} {kind}", f"{kind} {thing}")]


def _as_kin(owner: str, low: str, subject: str, speaker: str, family: str) -> list[str]:
    kin = next((group for group in _KIN if low in group), (low,))
    if owner:
        return [n for k in kin for n in (f"{owner}'s {k}", k)][1:] if fold(owner) == fold(speaker) else []
    if not (subject.islower() or len(kin) > 1):
        return []
    known = families().all.get(family)
    named = [speaker] if known is not None and low in known.nouns else []
    return [*(f"{speaker}'s {k}" for k in kin), *kin, *named]


# Closed word classes that decide how many values a slot holds -------------------------------------
#
# Data only.  `MANY` are stems of which a person has or does several; `ONE_AT_A_TIME` nouns of which
# there is one; `FUNCTIONAL_KEYS` predicate keys that hold of one thing at a time.


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


MANY = _stems(
    "like love hate enjoy prefer dislike adore appreciate visit travel go see watch read eat cook try buy "
    "speak know meet interest interested allergic fan friend member good excited proud use want need learn "
    "teach help support collect own have contain include hobby sister brother cousin child son daughter pet "
    "dog cat friend colleague neighbour neighbor student teacher goal dream plan idea problem issue part "
    "thing way reason advantage example feature interested passionate curious worried scared afraid bad "
    "involved volunteer attend join play sing dance listen write paint draw build make "
    "bake grow plant donate give receive get find lose win participate consider recommend suggest think feel "
    "believe hope wish dream aim follow talk discuss mention ask tell say skill "
    "language book movie film song "
    "band game recipe dish place memory challenge tip benefit symptom value "
    "strength weakness hero inspiration"
)
ONE_AT_A_TIME = _stems(
    "wife husband spouse partner boyfriend girlfriend fiance fiancee boss manager "
    "supervisor landlord employer "
    "job occupation profession role position title rank salary income rent budget address home hometown "
    "birthplace birthday birthdate age height weight email phone number name "
    "surname nickname password username "
    "nationality citizenship religion capital currency population ceo president "
    "chairperson chairman director "
    "governor mayor minister leader head coach captain owner author founder "
    "creator mother father mom mum dad "
    "headquarters deadline status favourite favorite gender pronoun pronouns timezone major "
    "university employer company department diet size balance tier subscription"
)
FUNCTIONAL_KEYS = frozenset(
    predicate_key(words.split(), preposition)
    for words, preposition in (
        ("live", "in"),
        ("lives", "in"),
        ("living", "in"),
        ("reside", "in"),
        ("based", "in"),
        ("work", "for"),
        ("works", "as"),
        ("employed", "by"),
        ("married", "to"),
        ("engaged", "to"),
        ("born", "in"),
        ("named", ""),
        ("called", ""),
        ("headquartered", "in"),
        ("located", "in"),
        ("report", "to"),
    )
) - {"|in", "|"}
PASSIVE_MAKING = _stems(
    "founded created written authored developed performed produced directed composed designed invented "
    "built established painted employed published discovered manufactured"
)


_EFFECT = re.compile(
    r"(?P<fact>.+): (?P<effect>believed too|believed|the next of a series|repeats|closes|ends|contradicts|"
    r"given|over|withdrawn)(?:[,;] (?P<why>.*))?",
    re.S,
)
_PLAIN = {
    "believed": "new", "believed too": "as well", "the next of a series": "one more", "repeats": "known already",
    "ends": "over", "over": "over", "withdrawn": "withdrawn", "given": "new",
}  # fmt: skip


def sentence(subject: object, phrase: str, value: object) -> str:
    """A fact as it reads."""
    if "{S}" in phrase:
        return phrase.replace("{S}", str(subject)).replace("{O}", str(value))
    gap = "" if phrase.startswith("'s ") else " "
    return f"{subject}{gap}{phrase} {value}".rstrip()


def worded(subject: object, phrase: str, value: object) -> tuple[str, str]:
    """The name of a fact, and the fact as it reads."""
    return label(phrase), sentence(subject, phrase, value)


_LATER = re.compile(r", from [\d-]+ on$")


def told(change: str) -> str:
    """What a write did, as its receipt names it, in words for people.

    >>> told("Ana works at Siemens: believed, nothing was believed of this yet")
    'Ana works at Siemens (new)'
    >>> told("Ana lives in Rome: closes, there is one at a time, and this is the later one")
    'Ana lives in Rome (takes the place of what was believed)'
    >>> told("Ana lives in Rome: closes, there is one at a time, and this is the later one, from 2027-03-01 on")
    'Ana lives in Rome (takes the place of what was believed, from 2027-03-01 on)'
    """
    if change.startswith("ended ("):
        return "what was believed before has ended" if "supersedes" in change else "ended"
    found = _EFFECT.fullmatch(change)
    if found is None:
        return change
    fact, effect, why = found["fact"], found["effect"], found["why"] or ""
    if effect == "closes":
        wrong, later = "it was wrong" in why, _LATER.search(why)
        return f"{fact} ({'corrects' if wrong else 'takes the place of'} what was believed{later[0] if later else ''})"
    if effect == "contradicts":
        return f"{fact} (contradicts what is believed: {why})"
    if effect == "given" and why:
        return f"{fact} ({'known already' if why == 'and believed already' else why.removeprefix('but ')})"
    return f"{fact} ({_PLAIN[effect]})"


def label(phrase: str) -> str:
    """A phrase by itself, as the name of what it says: "lives in", "sister is", "runs"."""
    plain = " ".join(phrase.replace("{S}", "").replace("{O}", "").split())
    return plain.removeprefix("'s ").removesuffix(" is") if plain.startswith("'s ") else plain
