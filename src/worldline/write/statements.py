"""First-person statements and talk about people close to the speaker, as claims.

Decides what a clause says the speaker is, has, does, did, likes, counts or gave up, by frames over
the clause; plans, wishes and hedges are left out.  Values are typed by values.py, dates by dates.py.

    "I've been using my Fitbit for 9 months now" → use fitbit, duration 9 months, a series
"""

from __future__ import annotations

import re

import msgspec

from worldline.claims import Claim, Cue, predicate_key, stem
from worldline.write.clauses import Clause
from worldline.write.frames import (
    ADDS,
    ADJECTIVE_LIKE,
    ADVERB,
    BE,
    BOUND,
    CHANGED,
    CONTINUOUS_SKIP,
    GIVEN_UP_HEAD,
    LIVE,
    MY,
    MY_ONE,
    NEW_JOB,
    NO_LONGER,
    NOT_BUT,
    NOT_VALUES,
    PARTICIPLES,
    PLACE_TO,
    PREPOSITION,
    SKIP_VERB,
    SPEAKER,
    STOP,
    SWITCH,
    TAIL,
    VAGUE_OBJECT,
)
from worldline.write.measures import (
    Verb,
    context_words,
    is_appointment,
    is_past,
    is_steady,
    is_vague,
    measure_key,
    series_unit,
    topic_words,
)
from worldline.write.values import Value, find_values


def statement(clause: Clause, name: str) -> list[Claim]:
    """The claims of one clause."""
    cue = _opener_cue(clause)
    correction = _correction(clause, name)
    if correction is not None:
        return [correction]
    text = clause.text
    close = MY_ONE.match(text)
    if close and not clause.asks and (close["name"] or not BE.match(close["rest"])):
        return _close_one(close, name, cue, clause)
    owned = MY.match(text)
    if owned and not clause.asks:
        return _owned(owned, name, cue, clause)
    spoken = SPEAKER.match(text)
    if spoken:
        return _spoken(spoken, name, cue, clause)
    return []


def _opener_cue(clause: Clause) -> Cue:
    if "also" in clause.opener or "plus" in clause.opener or ADDS.search(clause.text):
        return "adds"
    return ""


def _claim(clause: Clause, **fields: object) -> Claim:
    return Claim(chars=(clause.begin, clause.end), rank="user", **fields)  # type: ignore[arg-type]


def _correction(clause: Clause, name: str) -> Claim | None:
    """ "Actually it is Tuesday, not Monday"."""
    said = f"{clause.opener} {clause.text}"
    if not re.search(r"\b(?:actually|correct|wait|sorry|no|mean|mistake|not)\b", said, re.I):
        return None
    match = NOT_BUT.match(clause.text)
    if not match or clause.asks:
        return None
    new, old = _trim(match["new"]), _trim(match["old"])
    words = len(old.split())
    if not new or not old or words > 4 or old.split()[0].lower() in NOT_VALUES or "not" in new.split():
        return None
    if not _same_shape(new, old):
        return None
    return _claim(
        clause, subject=name, predicate=(match["head"] or "is").strip(), key="", object=new, kind="text",
        cue="correction", replaces=old, confidence=0.7,
    )  # fmt: skip


def _same_shape(a: str, b: str) -> bool:
    """Both numbers, or both names: only then is one said in place of the other."""
    digits = bool(re.search(r"\d", a)), bool(re.search(r"\d", b))
    capital = a[:1].isupper(), b[:1].isupper()
    return digits == (True, True) or (digits == (False, False) and capital == (True, True))


def _trim(text: str) -> str:
    """A value without what trails it."""
    stop = STOP.search(text)
    if stop and stop.start() > 0:
        text = text[: stop.start()]
    return TAIL.sub("", text).strip(' ,.!?*"“”')


def _owned(match: re.Match[str], name: str, cue: Cue, clause: Clause) -> list[Claim]:
    """my N is V."""
    noun, value = match["noun"].strip(), _trim(match["value"])
    if not value or match["cop"].lower() in ("was", "were") or len(value.split()) > 8:
        return []
    if ADJECTIVE_LIKE.match(value) or value.split()[0].lower().endswith("ing"):
        return []
    changed = bool(CHANGED.search(match["adv"]))
    values = find_values(match["value"])
    key = predicate_key(noun.split(), "of")
    typed = values[0] if values and values[0].begin <= 8 else None
    if typed and stem(noun.split()[-1].lower()) in BOUND:
        return []
    if typed:
        return [_measured(clause, name, noun, key, typed, True, cue)]
    named = bool(re.match(r"(?:(?:called|named)\s+)?(?:[A-Z][\w'-]+|[\"“]|\S*[@\d])", value))
    value = re.sub(r"^(?:called|named)\s+", "", value)
    article = bool(re.match(r"(?:an?|the|in|on|at|from|to)\s", value))
    favourite = "favourit" in key or "favorit" in key
    if not named and not article and len(value.split()) == 1 and not favourite:
        return []  # "my dog is tired"
    plural = match["cop"].lower() == "are"
    return [
        _claim(
            clause, subject=name, predicate=noun, key=key, object=value,
            kind="entity" if named else "text", definite=(named or favourite) and not plural,
            cue="closes" if changed and not plural and named else cue, confidence=0.75,
        )
    ]  # fmt: skip


def _close_one(match: re.Match[str], name: str, cue: Cue, clause: Clause) -> list[Claim]:
    """my sister (Ana) lives in Porto."""
    subject = match["name"] or f"{name}'s {match['kin'].lower()}"
    claims = []
    if match["name"]:
        claims.append(
            _claim(
                clause, subject=name, predicate=match["kin"], key=predicate_key([match["kin"]], "of"),
                object=match["name"], cue="adds", confidence=0.8,
            )
        )  # fmt: skip
    verb, _, rest = match["rest"].partition(" ")
    value = _trim(rest)
    if verb in ("is", "was", "has", "got") or not value:
        return claims
    return claims + _verb_claim(subject, verb, rest, match["adv"], cue, clause)


def _spoken(match: re.Match[str], name: str, cue: Cue, clause: Clause) -> list[Claim]:
    rest, adverbs = match["rest"].strip(), match["adv"].lower()
    if "never" in adverbs:
        return []
    if clause.asks and not re.search(r"\b(?:usually|always|like to|am on)\b", clause.text):
        return []
    over = NO_LONGER.match(("no longer " if "no longer" in adverbs else "") + rest)
    if over:
        return _given_up(over, name, clause)
    switch = SWITCH.match(rest)
    if switch:
        return _switched(switch, name, clause)
    job = NEW_JOB.match(re.sub(r"^(?:have\s+)?(?:just|recently|finally)?\s*", "", rest))
    if job and rest.split()[0].lower() not in ("work", "working"):
        return _new_job(job, name, clause)
    verb, _, after = rest.partition(" ")
    lowered = verb.lower()
    if lowered in ("am", "are"):
        return _being(name, after, adverbs, cue, clause)
    if lowered in ("have", "has") and after:
        return _having(name, after, adverbs, cue, clause)
    if lowered == "like" and after.lower().startswith("to "):
        verb, _, after = after[3:].partition(" ")
        return _verb_claim(name, verb, after, "usually ", cue, clause)
    if lowered in SKIP_VERB or not after or not verb.isalpha() or lowered.endswith("ly"):
        return []
    return _verb_claim(name, verb, after, adverbs, cue, clause)


def _being(name: str, after: str, adverbs: str, cue: Cue, clause: Clause) -> list[Claim]:
    """I am on page 220; I am a nurse; I am from Graz; I am reading X."""
    inner = re.match(rf"({ADVERB})(.+)$", after)
    if inner:
        adverbs, after = adverbs + inner[1].lower(), inner[2]
    values = find_values(after)
    first = after.split()[0].lower() if after.split() else ""
    if values and values[0].begin <= 3 and values[0].kind in ("level", "age", "score", "ordinal"):
        near = after[: stop.start()] if (stop := STOP.search(after)) and stop.start() > 2 else after
        topic = topic_words(near, values)
        if len(topic) < 2:
            topic += context_words(clause)
        if len(topic) < 2 and values[0].kind != "age":
            return []
        return [_measured(clause, name, "is on", predicate_key(topic, "on"), values[0], True, cue)]
    if first in ("a", "an"):
        value = _trim(after)
        good = len(value.split()) <= 6 and not re.match(r"an?\s+(?:bit|lot|little|big|huge|fan|few)\b", value)
        return [_simple(clause, name, "is", "|a", value, cue, "text")] if good else []
    if first == "from":
        place = _trim(after[5:])
        return [_simple(clause, name, "is from", "|from", place, cue)] if PLACE_TO.match(place) else []
    if first in ("married", "engaged", "allergic", "based", "employed"):
        words = after.split(maxsplit=2)
        if len(words) == 3:
            value = _trim(words[2])
            return [
                _simple(
                    clause,
                    name,
                    " ".join(words[:2]),
                    predicate_key(words[:1], words[1]),
                    value,
                    cue,
                )
            ]
    if first.endswith("ing") and first not in CONTINUOUS_SKIP:
        verb, _, rest = after.partition(" ")
        return _verb_claim(name, verb, rest, adverbs, cue, clause) if rest else []
    return []


def _having(name: str, after: str, adverbs: str, cue: Cue, clause: Clause) -> list[Claim]:
    """I have tried four so far; I have been using X for a year; I have a class on Thursdays."""
    inner = re.match(rf"({ADVERB})(.+)$", after)
    if inner:
        adverbs, after = adverbs + inner[1].lower(), inner[2]
    if "never" in adverbs:
        return []
    verb, _, rest = after.partition(" ")
    lowered = verb.lower()
    if lowered == "been" and rest:
        inner = re.match(rf"({ADVERB})(\w+ing)\s+(.+)$", rest)
        if inner and inner[2] not in CONTINUOUS_SKIP:
            return _verb_claim(name, inner[2], inner[3], adverbs + inner[1] + "since ", cue, clause)
        return []
    perfect = is_past(lowered) or lowered in PARTICIPLES
    if perfect and rest and lowered not in SKIP_VERB:
        return _verb_claim(name, verb, rest, adverbs + "perfect ", cue, clause)
    if perfect or lowered in ("to", "not", "no", "any", "never", "some", "such"):
        return []
    return _verb_claim(name, "have", after, adverbs, cue, clause)


def _verb_claim(subject: str, verb: str, rest: str, adverbs: str, cue: Cue, clause: Clause) -> list[Claim]:
    """S V [PREP] O, with typed values first."""
    managed = re.match(r"to\s+(\w+)\s+(.+)$", rest) if verb.lower() == "managed" else None
    if managed:
        verb, rest = managed[1], managed[2]
        adverbs += "perfect "
    lowered = verb.lower()
    past = is_past(lowered)
    perfect = "perfect" in adverbs
    since = "since" in adverbs
    stop = STOP.search(rest)
    near = rest[: stop.start()] if stop and stop.start() > 2 else rest
    values = [v for v in find_values(near) if v.kind != "count" or v.begin < 24]
    claims = []
    for value in values[:1]:
        if is_steady(value, Verb(lowered, adverbs, past, perfect, since), clause.text):
            habit = value.kind in ("frequency", "clock", "weekday")
            head = near[: near.find(value.text)] if habit else ""
            topic = [lowered, *topic_words(head if head.strip() else near, values)]
            if is_vague(topic, value, near):
                topic += context_words(clause)
                if len(topic) < 2:
                    continue
            made = _measured(clause, subject, verb, measure_key(topic), value, True, cue)
            once = is_appointment(made, lowered, clause)
            claims.append(msgspec.structs.replace(made, event=True, cue="adds") if once else made)
    if claims:
        return claims
    return _object_claim(subject, verb, near, adverbs, cue, clause, past or perfect)


def _measured(
    clause: Clause, subject: str, predicate: str, key: str, value: Value, steady: bool, cue: Cue
) -> Claim:
    cue = "adds" if cue == "adds" and "|of" not in key and value.kind != "duration" else "series"
    return _claim(
        clause, subject=subject, predicate=predicate, key=key, object=value.text, kind=value.kind,
        unit=series_unit(value, clause), number=value.number, definite=steady, cue=cue,
        confidence=0.75,
    )  # fmt: skip


def _simple(
    clause: Clause,
    subject: str,
    predicate: str,
    key: str,
    value: str,
    cue: Cue,
    kind: str = "entity",
) -> Claim:
    return _claim(
        clause, subject=subject, predicate=predicate, key=key, object=value, kind=kind, cue=cue,
        confidence=0.75,
    )  # fmt: skip


def _object_claim(
    subject: str, verb: str, near: str, adverbs: str, cue: Cue, clause: Clause, past: bool
) -> list[Claim]:
    value = _trim(near)
    match = PREPOSITION.match(value)
    preposition = match[1].lower() if match else ""
    value = match[2] if match else value
    if (
        not value
        or len(value.split()) > 9
        or value.split()[0].lower() in ("it", "them", "that", "this", "so", "to")
    ):
        return []
    if value.split()[0].lower() in VAGUE_OBJECT or value.lower().startswith(("a lot", "a bit", "a few")):
        return []
    key = predicate_key([verb], preposition)
    if key.startswith("|"):
        key = f"{stem(verb)}{key}"
    lives = stem(verb) in LIVE and preposition in ("in", "at", "near")
    works = stem(verb) == "work" and preposition in ("at", "for", "as")
    named = bool(PLACE_TO.match(value))
    if lives:
        key = "live|in"
    if works:
        key = "work|as" if preposition == "as" else "work|for"
    single = (lives or works) and not past and (named or (preposition == "as" and value[:2] in ("a ", "an")))
    fixed: Cue = "" if single and cue == "adds" and not ADDS.search(clause.text) else cue
    return [
        _claim(
            clause, subject=subject, predicate=f"{verb} {preposition}".strip(), key=key, object=value,
            kind="entity" if named else "text", definite=single, event=past,
            cue=fixed, confidence=0.7,
        )
    ]  # fmt: skip


def _switched(match: re.Match[str], name: str, clause: Clause) -> list[Claim]:
    """switched from A to B; moved to Porto; changed my diet to vegan."""
    verb = match["verb"].lower()
    new, old = _trim(match["new"]), _trim(match["old"] or "")
    topic = (match["topic"] or "").split()[1:]
    if not new or len(new.split()) > 6:
        return []
    moving = verb.startswith("mov") or verb == "transferred"
    if moving and not topic:
        if not PLACE_TO.match(new) or verb.endswith("ing"):
            return []
        return [
            _claim(
                clause, subject=name, predicate="moved to", key="live|in", object=new, cue="closes",
                replaces=old, definite=True, confidence=0.75,
            )
        ]  # fmt: skip
    if verb.endswith("ing") or (not old and not topic):
        return []
    key = predicate_key(topic, "of") if topic else predicate_key([verb], "to")
    return [
        _claim(
            clause, subject=name, predicate=f"{verb} to", key=key, object=new, kind="text", cue="closes",
            replaces=old, definite=bool(topic), confidence=0.75,
        )
    ]  # fmt: skip


def _new_job(match: re.Match[str], name: str, clause: Clause) -> list[Claim]:
    """I got a new job at Acme; I started working as a nurse."""
    what, how = _trim(match["what"]), match["how"].lower()
    if how != "as" and not PLACE_TO.match(what):
        return []
    key = "work|as" if how == "as" else "work|for"
    return [
        _claim(
            clause, subject=name, predicate=f"works {how}", key=key, object=what,
            cue="" if ADDS.search(clause.text) else "closes", definite=True, confidence=0.75,
        )
    ]  # fmt: skip


def _given_up(match: re.Match[str], name: str, clause: Clause) -> list[Claim]:
    """I no longer work there; I don't eat meat any more; I quit smoking."""
    rest = match["rest"] or match["bare"] or ""
    if match["quit"]:
        what = _trim(match["what"])
        return [
            _claim(
                clause, subject=name, predicate=match["quit"], key="", object=what, kind="text",
                cue="ends", replaces=GIVEN_UP_HEAD.sub("", what), confidence=0.7,
            )
        ]  # fmt: skip
    verb, _, after = rest.strip().partition(" ")
    value = _trim(after)
    found = PREPOSITION.match(value)
    preposition = found[1].lower() if found else ""
    value = found[2] if found else value
    key = predicate_key([verb], preposition)
    if stem(verb) in LIVE:
        key = "live|in"
    elif stem(verb) == "work" and preposition in ("", "at", "for", "as"):
        key = "work|as" if preposition == "as" else "work|for"
    if value.lower() in ("there", "here"):
        value = ""
    return [
        _claim(
            clause, subject=name, predicate=f"no longer {verb}", key=key, object=value, kind="text",
            cue="ends", confidence=0.75,
        )
    ]  # fmt: skip
