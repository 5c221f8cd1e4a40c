"""Third-person relation sentences: "The capital of X is Y", "X's author is Y", "X was founded by Y".

Decides where subject, predicate and object lie in one sentence, by general grammar and without a
list of relations; each sentence is read alone.  It does not decide what a new value replaces.

    relation("Ana Lopes is married to Rui Costa.") → Ana Lopes | marri|to | Rui Costa
"""

from __future__ import annotations

import re

import msgspec

from worldline.reading.claim import LIGHT, Claim, predicate_key
from worldline.text import word_set

COPULA = word_set("is are was were")
AUXILIARY = COPULA | word_set(
    "am be been being has have had does do did will would can could may might shall should must"
)
NOT_FINITE = frozenset({"be", "been", "being"})
PREPOSITIONS = word_set(
    "of in at on by for with to from as into about under over after before between against "
    "within near during through toward towards onto inside outside"
)
DETERMINERS = word_set("the a an his her their its my our your this that these those")
ADVERBS = word_set(
    "not also now currently originally still once always first best formerly officially "
    "primarily mainly widely mostly best-known well"
)
PERSONAL = word_set("i we you he she it they me us him them my our your")
IRREGULAR = word_set(
    "wrote sang made built began led won ran held taught drew sold bought met found gave took "
    "grew wed knew spoke chose became left lost sent wore beat shot born known written sung "
    "made built led held taught drawn sold bought given taken grown spoken chosen lost sent "
    "worn won run set put cut"
)
LINKS = word_set("of that where which who whose in for by")
_TOKEN = re.compile(r"\S+")
_CATEGORY = re.compile(r"^an?\s", re.I)


class Split(msgspec.Struct, frozen=True):
    """One reading of a sentence; `weight` grows with the literal words that it explains."""

    subject: str
    predicate: str
    key: str
    object: str
    types: tuple[str, ...]
    weight: float
    definite: bool = True
    active: bool = False


def relation(sentence: str) -> Claim | None:
    """The relation that a sentence states, if it is a plain statement about something named."""
    text = sentence.strip()
    body = text[:-1] if text.endswith((".", "!")) else text
    tokens = _TOKEN.findall(body)
    if len(tokens) < 3 or len(tokens) > 40 or text.endswith("?"):
        return None
    split = _possessive(tokens) or _role(tokens) or _clause(tokens)
    if split is None or not _sound(split.subject) or not _sound(split.object):
        return None
    return Claim(
        split.subject,
        split.predicate,
        split.key,
        split.object,
        kind="entity",
        types=split.types,
        definite=split.definite,
        record=_is_record(split),
        active=split.active,
        confidence=0.8 if split.weight >= 2 else 0.65,
        chars=(0, len(sentence)),
    )


def _sound(name: str) -> bool:
    words = name.lower().split()
    return bool(words) and any(w not in LIGHT and w not in PERSONAL for w in words) and len(words) <= 16


def _is_record(split: Split) -> bool:
    """No side is the speaker's or somebody's own: "my sister", "she", "his car"."""
    return not (_personal(split.subject) or _personal(split.object) or _CATEGORY.match(split.object))


def _personal(name: str) -> bool:
    words = name.split()
    return words[0].lower() in PERSONAL and all(map(_lower, words[1:]))


def _lower(token: str) -> bool:
    return token[0].islower()


def _verbal(token: str) -> bool:
    """Whether a lower-case word can be a finite verb or a participle."""
    if not token.isalpha() or not _lower(token):
        return False
    if token in IRREGULAR:
        return True
    return len(token) > 3 and token.endswith(("ed", "es", "s")) and not token.endswith(("ss", "us", "ics"))


def _join(tokens: list[str]) -> str:
    name = " ".join(tokens).strip(" ,;:")
    if name[:4].lower() == "the " and len(name) > 4 and name[4:5].islower():
        name = name[4:]
    return name.strip('"“”') if name.count('"') in (0, 2) else name


def _last_copula(tokens: list[str], start: int) -> int:
    found = [i for i in range(start, len(tokens) - 1) if tokens[i] in COPULA]
    return found[-1] if found else -1


def _typed(tokens: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """ "the city of Porto" → Porto, a city."""
    if len(tokens) > 3 and tokens[0] == "the":
        for i in range(2, min(5, len(tokens) - 1)):
            if tokens[i] == "of" and all(map(_lower, tokens[1:i])):
                return tokens[i + 1 :], (_head(tokens[1:i]),)
    return tokens, ()


def _head(nouns: list[str]) -> str:
    """The noun that names the kind: "type of music" → music, "head coach" → coach."""
    if "of" in nouns and nouns[0] in ("type", "kind", "sort", "name"):
        nouns = nouns[nouns.index("of") + 1 :]
    if "of" in nouns:
        nouns = nouns[: nouns.index("of")] or nouns
    return nouns[-1].lower() if nouns else ""


def _object(tokens: list[str]) -> tuple[list[str], tuple[str, ...], list[str]]:
    """What follows a copula: past "located in the city of", down to the value itself."""
    for i in range(1, min(4, len(tokens) - 1)):
        linked = tokens[i] in PREPOSITIONS and tokens[i] != "of" and _verbal(tokens[i - 1])
        if linked and all(map(_lower, tokens[:i])):
            value, types = _typed(tokens[i + 1 :])
            return value, types, tokens[: i + 1]
    value, types = _typed(tokens)
    return value, types, []


def _possessive(tokens: list[str]) -> Split | None:
    """S's N is O."""
    copula = _last_copula(tokens, 2)
    if copula < 2:
        return None
    for i in range(copula - 2, -1, -1):
        owner = re.sub(r"(?:(?<=s)[’']|[’']s)$", "", tokens[i])
        if owner == tokens[i] or not all(map(_lower, tokens[i + 1 : copula])):
            continue
        nouns = tokens[i + 1 : copula]
        if any(w in AUXILIARY or w in DETERMINERS for w in nouns):
            continue
        value, types, _ = _object(tokens[copula + 1 :])
        key = predicate_key(nouns, "of")
        subject = _join([*tokens[:i], owner])
        return Split(subject, f"'s {' '.join(nouns)} is", key, _join(value), types or (_head(nouns),), 2)
    return None


def _role(tokens: list[str]) -> Split | None:
    """The N of S is O; the N that V S is O; the N where S V is O; the Title of S is O."""
    if tokens[0] not in ("The", "the"):
        return None
    copula = _last_copula(tokens, 3)
    if copula < 0:
        return None
    begin = next((i for i in range(1, copula) if not _lower(tokens[i])), 0)
    if begin == 1:
        return _title(tokens, copula)
    if not begin:
        begin = max((i + 1 for i in range(2, copula - 1) if tokens[i] in LINKS), default=0)
        if not begin:
            return None
    pre = tokens[1:begin]
    while pre and pre[-1] in DETERMINERS and pre[-1] != "that":
        pre = pre[:-1]
    link = next((i for i, w in enumerate(pre) if w in LINKS and i > 0), -1)
    if link < 0:
        return None
    subject, tail = _tail(tokens[begin:copula], pre, tokens[begin - 1])
    value, types, _ = _object(tokens[copula + 1 :])
    return _role_split(pre, subject, tail, value, types)


def _title(tokens: list[str], copula: int) -> Split | None:
    if tokens[copula + 1] in DETERMINERS or (_lower(tokens[copula + 1]) and _object(tokens[copula + 1 :])[2]):
        return None
    link = next((i for i in range(2, copula - 1) if tokens[i] == "of"), 0)
    if not link:
        return None
    subject = tokens[link + 1 : copula]
    subject = subject[1:] if subject[0] == "the" and len(subject) > 1 else subject
    nouns = tokens[1:link]
    value, types = _typed(tokens[copula + 1 :])
    return Split(
        _join(subject), f"'s {' '.join(nouns)} is", predicate_key(nouns, "of"), _join(value), types, 2
    )


def _tail(span: list[str], pre: list[str], before: str) -> tuple[list[str], list[str]]:
    """Words after the subject that belong to the predicate: "(where) Ana was educated"."""
    relative = any(w in ("that", "where", "which", "who", "whom") for w in pre)
    end = len(span)
    while end > 1 and _lower(span[end - 1]):
        end -= 1
    if relative and end < len(span):
        return span[:end], span[end:]
    if before == "the" and end == len(span) - 1 and end:
        return span[:end], span[end:]
    return span, []


def _role_split(
    pre: list[str], subject: list[str], tail: list[str], value: list[str], types: tuple[str, ...]
) -> Split | None:
    relative = next((i for i, w in enumerate(pre) if w in ("that", "where", "which", "who")), -1)
    predicate = " ".join(["the", *pre, "{S}", *tail, "is {O}"])
    if relative > 0:
        kind = (_head(pre[:relative]),)
        verbs = [w for w in pre[relative + 1 :] if w not in PREPOSITIONS]
        if verbs and not tail:  # the company that produced S
            key = predicate_key(verbs, "by")
        elif pre[relative] == "where":
            key = predicate_key(tail, "in")
        else:
            preposition = tail[-1] if tail and tail[-1] in PREPOSITIONS else ""
            key = predicate_key([w for w in tail if w not in PREPOSITIONS], preposition)
        return Split(_join(subject), predicate, key, _join(value), types or kind, 3)
    nouns = [w for w in pre if w not in PREPOSITIONS] + tail
    types = types or (_head(pre),)
    if pre[-1] == "of" and not tail:
        predicate = f"'s {' '.join(pre[:-1])} is"
    return Split(_join(subject), predicate, predicate_key(nouns, "of"), _join(value), types, 3)


def _clause(tokens: list[str]) -> Split | None:
    """S V [PREP] [the N of] O: the reading that explains the most words, leftmost first."""
    best: Split | None = None
    for i in range(1, len(tokens) - 1):
        if (tokens[i] in AUXILIARY and tokens[i] not in NOT_FINITE) or (
            _verbal(tokens[i]) and _may_be_main(tokens, i)
        ):
            found = _reading(tokens, i)
            if found is not None and (best is None or found.weight > best.weight):
                best = found
    return best


def _may_be_main(tokens: list[str], i: int) -> bool:
    before = tokens[i - 1]
    if i > 1 and _verbal(before) and not _lower(tokens[i - 2]):
        return False  # "Bo keeps bees in Oslo": the verb stands right behind the name
    return before not in PREPOSITIONS and before not in DETERMINERS and before not in AUXILIARY


def _reading(tokens: list[str], i: int) -> Split | None:
    j = i
    while j < len(tokens) and (tokens[j] in AUXILIARY or tokens[j] in ADVERBS):
        j += 1
    rest = tokens[j:]
    if not rest:
        return None
    inner = sum(1 for w in tokens[1:i] if w in AUXILIARY or (_verbal(w) and w not in PREPOSITIONS))
    cost = 0.6 * inner
    subject = _join(tokens[:i])
    if j > i and rest[0] == "the":
        inverted = _identity(tokens, i, j)
        if inverted is not None:
            return inverted
    if j > i and rest[0] in ("a", "an"):
        return _membership(subject, tokens, i, j, cost)
    return _verb_phrase(subject, tokens, i, j, cost)


def _identity(tokens: list[str], i: int, j: int) -> Split | None:
    """O is the N of S: the same as "the N of S is O"."""
    rest = tokens[j:]
    link = next((k for k in range(2, min(6, len(rest) - 1)) if rest[k] == "of"), 0)
    if not link or tokens[i] not in COPULA:
        return None
    nouns = rest[1:link]
    owner = rest[link + 1 :]
    owner = owner[1:] if owner[0] == "the" and len(owner) > 1 else owner
    return Split(
        _join(owner),
        f"'s {' '.join(nouns)} is",
        predicate_key(nouns, "of"),
        _join(tokens[:i]),
        (_head(nouns),),
        link + 1.5,
    )


def _membership(subject: str, tokens: list[str], i: int, j: int, cost: float) -> Split | None:
    """S is a N of O; S is a N."""
    rest = tokens[j:]
    link = next((k for k in range(2, min(6, len(rest) - 1)) if rest[k] in PREPOSITIONS), 0)
    if link and all(map(_lower, rest[1:link])):
        value, types = _typed(rest[link + 1 :])
        nouns = rest[1:link]
        key = predicate_key(nouns, rest[link])
        predicate = " ".join(tokens[i : len(tokens) - len(value)])
        return Split(subject, predicate, key, _join(value), types, link + 2 - cost, bool(types))
    return Split(subject, " ".join(tokens[i : j + 1]), "|a", _join(rest[1:]), (), 1 - cost, False)


def _verb_phrase(subject: str, tokens: list[str], i: int, j: int, cost: float) -> Split | None:
    auxiliary = j > i
    k = j
    content: list[str] = []
    if not auxiliary:
        content, k = [tokens[i]], i + 1
    else:
        limit = k + 3
        while k < len(tokens) - 1 and k < limit and _lower(tokens[k]) and tokens[k] not in PREPOSITIONS:
            if tokens[k] in DETERMINERS:
                break
            content.append(tokens[k])
            k += 1
    preposition = ""
    if k < len(tokens) - 1 and tokens[k] in PREPOSITIONS:
        preposition, k = tokens[k], k + 1
    elif auxiliary and content:
        # No preposition: "is located Porto" is no reading; the words are the value itself.
        k, content = j, []
    value, types = _typed(tokens[k:])
    if not value or (auxiliary and not content and not preposition and not types):
        key = "|be"
        return Split(subject, tokens[i], key, _join(value), types, 1 - cost, True)
    predicate = " ".join(tokens[i : len(tokens) - len(value)])
    key = predicate_key(content, preposition)
    active = not auxiliary and not preposition and not types
    weight = (k - i) + (2 if types else 0) - cost
    return Split(subject, predicate, key, _join(value), types, weight, bool(types), active)
