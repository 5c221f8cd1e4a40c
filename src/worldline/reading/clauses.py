"""The clauses of a sentence: who does what to whom, when, and how far it is meant.

A clause is drawn from the tree: its verb in base form with particle and voice, its subjects, its
objects by preposition, and marks for what is negated, over, planned, asked, quoted or only imagined.
What a clause means is decided elsewhere; here is grammar only.

    "My sister moved to Lisbon and no longer works there." → [move: sister → to Lisbon], [work: over, sister]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import is_given_name
from worldline.reading.ellipsis import echo
from worldline.reading.families import base_of, past, third_person
from worldline.reading.parser import NOUNS, Noun, Tree, is_aim, is_unreal, stands_alone

HEADS = frozenset(
    {"ROOT", "conj", "parataxis", "relcl", "acl", "ccomp", "advcl", "csubj", "xcomp", "pcomp", "dep"}
)
_LINKING = frozenset({"be", "become", "get", "stay", "remain", "turn", "go"})
_QUOTES = re.compile(
    r"[\"“«„]([^\"”»“]{3,400})[\"”»“]|(?:(?<=[\s,(:])|^)'([A-Z][^\n]{3,200}?)'(?=[\s,.;!?)]|$)"
)
_ASPECT = {
    "start": "begins", "begin": "begins", "commence": "begins", "resume": "begins",
    "stop": "stops", "quit": "stops", "cease": "stops", "finish": "stops", "give up": "stops", "avoid": "stops",
    "keep": "", "continue": "", "keep on": "", "carry on": "", "go on": "", "happen": "", "manage": "", "get": "",
    "end up": "", "turn out": "", "come": "",
}  # fmt: skip
_PLANS = frozenset(
    "plan want intend hope aim expect need mean wish decide prepare propose promise agree offer consider".split()
)
_WISHES = frozenset("want hope mean wish".split())
_NOW = frozenset("now currently nowadays finally just already recently instead back".split())
_OUGHT = frozenset({"have", "need", "must"})
FEELING = frozenset("love hate dislike loathe adore detest prefer".split())


class Part(Struct, frozen=True):
    """What stands behind a verb: nouns, with the preposition if there is one; or a date."""

    prep: str
    nouns: tuple[Noun, ...]
    dated: bool = False
    kind: str = "object"


class Clause(Struct, frozen=True):
    """One clause of a sentence."""

    at: int
    verb: str
    """Base form with particle: "take over"; the passive as "be handed over"; "be allergic", "get married"."""
    subjects: tuple[Noun, ...]
    parts: tuple[Part, ...]
    tense: str
    reads: str
    """The verb as it stands after a name: "lives", "bought", "is run", "cannot eat"."""
    own: frozenset[int]
    """The places of its own words."""
    lemma: str = ""
    """The base form of its last verb, without particle."""
    dep: str = "ROOT"
    word: str = ""
    """The adjective or participle of a linking verb."""
    negated: bool = False
    over: bool = False
    """ "no longer", "any more", "used to"."""
    used: bool = False
    begins: bool = False
    plan: bool = False
    unreal: bool = False
    aim: bool = False
    """ "to keep it tidy": what is done for it is told, not that it is so."""
    asks: bool = False
    orders: bool = False
    quoted: bool = False
    doubtful: bool = False
    also: bool = False
    now: bool = False
    lasting: bool = False
    """ "for good"."""
    lasted: str = ""
    """ "six years", where it has been so for so long and still is."""
    otherwise: str = ""
    """How it reads of what is said the other way round."""
    follows: int = 0
    """Where the "then" stands by which it is told behind what was so before."""
    chain: str = ""
    """ "start seeing": its verbs as they are said, where one passes its meaning on."""

    @property
    def both_ways(self) -> list[Clause]:
        """The clause, and what it says the other way round, each with its own members only."""
        if not any(n.flipped for n in (*self.subjects, *(n for p in self.parts for n in p.nouns))):
            return [self]
        turned = {p.prep for p in self.parts if any(n.flipped for n in p.nouns)}
        first = [replace(p, nouns=tuple(n for n in p.nouns if not n.flipped)) for p in self.parts]
        other = [
            replace(p, nouns=tuple(n for n in p.nouns if n.flipped or p.prep not in turned))
            for p in self.parts
        ]
        mine = tuple(n for n in self.subjects if not n.flipped)
        theirs = tuple(n for n in self.subjects if n.flipped) or self.subjects
        negated = not (self.negated or self.over)
        return [
            replace(self, subjects=mine, parts=tuple(p for p in first if p.nouns)),
            replace(
                self, subjects=theirs, parts=tuple(p for p in other if p.nouns), negated=negated, over=False,
                reads=self.otherwise,
            ),
        ]  # fmt: skip


def clauses(tree: Tree, dated: Iterable[int] = ()) -> list[Clause]:
    """Every clause of a sentence, in order; `dated` are the places of words that make up dates."""
    days = frozenset(dated)
    quoted = [m.span() for m in _QUOTES.finditer(tree.text)]
    heads = [i for i in range(len(tree.tokens)) if _is_head(tree, i)]
    found: dict[int, Clause] = {}
    for at in heads:
        clause = _clause(tree, at, days, found)
        if clause is not None:
            begin = tree.tokens[at].begin
            inside = any(a <= begin - tree.tokens[0].begin < b for a, b in quoted)
            clause = echo(tree, clause, list(found.values()))
            found[at] = replace(clause, quoted=inside)
    return list(found.values())


def _is_head(tree: Tree, at: int) -> bool:
    token = tree.tokens[at]
    if token.pos not in ("VERB", "AUX") or token.dep not in HEADS:
        return False
    if token.dep == "ccomp" and token.low == "go" and tree.tokens[token.head].lemma == "let":
        return False
    if _had_done(tree, token.head) == at:
        return False
    if token.dep == "xcomp":
        above = tree.tokens[token.head]
        has_own = tree.kid(at, "nsubj", "nsubjpass") is not None
        return has_own or _told(tree, token.head) or (above.lemma == "be" and token.tag == "VBG")
    if token.dep == "conj" and _chained(tree, tree.tokens[at].head) is not None:
        return True
    return token.dep != "pcomp"


def _told(tree: Tree, at: int) -> bool:
    """ "told me to avoid", "asked us to call": the order is said, somebody is to do it."""
    return tree.tokens[at].lemma in ("tell", "ask", "advise", "order", "recommend") and bool(
        tree.kids(at, "dobj")
    )


def _chained(tree: Tree, at: int) -> int | None:
    """The verb that a helping verb passes its meaning on to."""
    inner = next((i for i in tree.kids(at, "xcomp") if tree.tokens[i].pos in ("VERB", "AUX")), None)
    if inner is None or _told(tree, at):
        return None
    lemma = _with_particle(tree, at)
    token = tree.tokens[at]
    if lemma in _ASPECT or lemma in _PLANS or lemma == "have":
        return inner
    if token.low == "used" or (token.lemma == "go" and token.tag == "VBG"):
        return inner
    return None


def _with_particle(tree: Tree, at: int) -> str:
    token = tree.tokens[at]
    particle = _particle(tree, at)
    lemma = _LEMMAS.get(token.low) or base_of(token.low) or token.lemma.lower()
    return f"{lemma} {tree.tokens[particle].low}" if particle is not None else lemma


def _particle(tree: Tree, at: int) -> int | None:
    """ "took over", "went up to 900 euros", "put the rent up to 900 euros"."""
    behind = [
        i for i in tree.kids(at, "advmod") if i > at and _is_particle(tree, i) and _follows(tree, i, at)
    ]
    return next(iter([*tree.kids(at, "prt"), *behind]), None)


def _follows(tree: Tree, i: int, at: int) -> bool:
    """Whether a word stands right behind the verb or behind its object."""
    return i == at + 1 or any(i == tree.under(k)[-1] + 1 for k in tree.kids(at, "dobj"))


def _is_particle(tree: Tree, at: int) -> bool:
    """ "moved in with": an adverb right in front of a preposition belongs to the verb."""
    after = tree.tokens[at + 1] if at + 1 < len(tree.tokens) else None
    verb = tree.tokens[at].head
    known = _PARTICLES | ({"across", "aside", "together", "apart"} if at == verb + 1 else {"back"})
    known = known if after is None or after.low != "from" else known | {"home"}  # "came home from hospital"
    joined = after is not None and after.pos == "ADP" and tree.tokens[at].low in known
    away = tree.tokens[at].low in ("away", "back") and tree.tokens[verb].lemma in _PHRASAL
    return tree.tokens[at].tag == "RP" or joined or (away and tree.kid(verb, "dobj") is not None)


_PARTICLES = frozenset("in out over up down off away forward".split())
_PHRASAL = frozenset("give throw send take put bring hand pay".split())
"""What these do to a thing, they do with a word that may stand behind it: "threw away the kayak"."""


_LEMMAS = dict.fromkeys(("'s", "’s", "'m", "'re", "’m", "’re", "ai"), "be") | {"left": "leave"}


class _Marks(Struct):
    """What is gathered on the way down a chain of verbs."""

    over: bool = False
    used: bool = False
    begins: bool = False
    plan: bool = False
    ought: bool = False
    future: bool = False
    wished: bool = False
    """ "I wanted to bring it home": whether that came about is not said, and a plan it is no more."""


def _clause(tree: Tree, at: int, days: frozenset[int], before: dict[int, Clause]) -> Clause | None:
    marks, end = _Marks(), at
    seen = [at]
    while (inner := _chained(tree, end)) is not None and len(seen) < 5:
        lemma = _with_particle(tree, end)
        token = tree.tokens[end]
        negated = bool(tree.kids(end, "neg"))
        if token.low == "used" or _ASPECT.get(lemma) == "stops":
            marks.over, marks.used = True, marks.used or token.low == "used"
        elif _ASPECT.get(lemma) == "begins":
            marks.begins = True
        elif lemma in _OUGHT and tree.kid(inner, "aux") is not None and lemma != "need":
            marks.ought = token.low != "had"  # who had to do it did it
        elif token.lemma == "go" and token.tag == "VBG":
            marks.future = True
        elif lemma in _PLANS:
            marks.plan = True
            marks.wished |= token.tag == "VBD" and lemma in _WISHES
        if negated and not marks.over:
            marks.plan = True
        end = inner
        seen.append(end)
    return _framed(tree, at, end, seen, marks, days, before)


def _framed(
    tree: Tree, at: int, end: int, seen: Sequence[int], marks: _Marks, days: frozenset[int],
    before: dict[int, Clause],
) -> Clause | None:  # fmt: skip
    head, verb_token = tree.tokens[at], tree.tokens[end]
    own = _own_words(tree, at)
    aux = [tree.tokens[i] for place in seen for i in tree.kids(place, "aux", "auxpass")]
    low = {t.low for t in aux}
    passive = bool(tree.kids(end, "auxpass", "nsubjpass")) or (
        end == at and verb_token.tag == "VBN" and (head.dep == "acl" or _is_noted(tree, at))
    )
    subjects = _but_one(tree, own, days, _subjects(tree, at, days, before))
    verb, word = _with_particle(tree, end), ""
    let = _let_go(tree, end)
    if verb == "get" and verb_token.tag == "VBN" and low & {"have", "has", "'ve", "'s"}:
        verb, low = "have", low - {"have", "has", "'ve", "'s"}  # "have got" is to have
    parts = _parts(tree, end, days)
    if (done := _had_done(tree, end)) is not None:
        noun = tree.noun(tree.kids(done, "nsubj", "nsubjpass")[0], days)
        how = tree.tokens[done].low  # "had it serviced", "had the boiler serviced"
        verb, word = (f"{verb} {how}", how) if noun.pronoun else (verb, word)
        noun = noun if noun.pronoun else replace(noun, text=f"{noun.text} {how}")
        parts = [Part("", (noun,)), *_parts(tree, done, days)]
    if let is not None:
        verb = f"{tree.tokens[end].lemma} {tree.tokens[let[0]].low}"
        parts = [Part("", _nouns(tree, let[1], days)), *_parts(tree, let[0], days)]
    if passive:
        by = next(
            ("get" if t.low.startswith(("get", "got")) else "be" for t in aux if t.dep == "auxpass"), "be"
        )
        word = _participle(tree, end)
        verb = f"{by} {word}"
    elif verb in _LINKING and (adjective := tree.kid(end, "acomp")) is not None:
        word = tree.tokens[adjective].low
        verb = f"{verb} {word}"
        parts = [*parts, *_parts(tree, adjective, days)]
    elif verb == "be" and (adverb := _predicate(tree, end)):
        word, verb = adverb, f"be {adverb}"
    adverbs = {tree.tokens[i].low for place in seen for i in tree.kids(place, "advmod", "neg", "npadvmod")}
    over = marks.over or _is_over(tree, seen, adverbs)
    negated = _is_negated(tree, seen, [] if word else parts, subjects) and not over
    tense = "present" if verb == "have" and verb_token.lemma == "get" else _tense(tree, at, low, marks)
    if marks.begins and tense in ("past", "perfect"):
        tense = "present"  # "started working at": what holds from then on
    stretch = [p for p in parts if p.prep == "for" and any(n.lemma in _STRETCHES for n in p.nouns)]
    lasts = tense == "perfect" and not negated and not over and _has_lasted(tree, end, parts, stretch, low)
    if lasts:
        tense = "present"
    if lasts or len(parts) > len(stretch):
        parts = [p for p in parts if p not in stretch]
    clause = Clause(
        at,
        verb,
        subjects,
        tuple(parts),
        tense,
        "",
        own,
        verb_token.lemma.lower(),
        head.dep,
        word,
        negated=negated,
        over=over,
        used=marks.used,
        begins=marks.begins,
        plan=marks.plan,
        unreal=is_unreal(tree, at, low) or marks.wished or (marks.future and bool(low & {"was", "were"})),
        aim=is_aim(tree, at),
        asks=_asks(tree, at),
        orders=_orders(tree, at, subjects),
        doubtful=_is_doubtful(tree, at, adverbs),
        also=bool(adverbs & {"also", "too", "besides"}) or _adds(tree, own),
        now=bool(adverbs & _NOW),
        lasting=any(_is_for_good(tree, i) for i in own),
        lasted=stretch[0].nouns[0].text if lasts and stretch else "",
        chain=f"{_with_particle(tree, at)} {verb_token.low}" if end != at and verb_token.tag == "VBG" else "",
    )
    clause, other = _with_flips(tree, clause), replace(clause, negated=not (negated or over), over=False)
    says, instead = (_reads(tree, c, end, low, passive, marks.ought) for c in (clause, other))
    return replace(clause, reads=says, otherwise=instead)


def _with_flips(tree: Tree, clause: Clause) -> Clause:
    """The members that are said the other way round, marked as such."""

    def marked(nouns: tuple[Noun, ...], negated: bool) -> tuple[Noun, ...]:
        turned = tree.flips(nouns[0].at, negated) if nouns else {}
        return tuple(replace(n, flipped=n.flipped != turned.get(n.at, False)) for n in nouns)

    negated = clause.negated or clause.over
    parts = tuple(replace(p, nouns=marked(p.nouns, negated)) for p in clause.parts)
    return replace(clause, parts=parts, subjects=marked(clause.subjects, clause.negated))


def _let_go(tree: Tree, at: int) -> tuple[int, int] | None:
    """The second word of "let her go" and "made him redundant", and who it is."""
    for i in tree.kids(at, "ccomp"):
        whom = tree.kid(i, "nsubj")
        if (tree.tokens[at].lemma, tree.tokens[i].low) in _PARTED and whom is not None:
            return i, whom
    return None


def _had_done(tree: Tree, at: int) -> int | None:
    """What somebody "had done": the second verb of "had his knee replaced"."""
    inner = next((i for i in tree.kids(at, "ccomp") if i > at), None)
    if tree.tokens[at].lemma not in ("have", "get") or inner is None:
        return None
    told = tree.tokens[inner].tag in ("VBN", "VBD") and not tree.kids(inner, "aux", "auxpass", "mark")
    return inner if told and tree.kids(inner, "nsubj", "nsubjpass") else None


_PARTED = frozenset({("let", "go"), ("make", "redundant")})
"""Verbs whose second word stands behind the object."""


def _is_noted(tree: Tree, at: int) -> bool:
    """ "Hester Oduya elected treasurer": the passive of notes and headlines, without "was"."""
    made = tree.tokens[at].lemma in _MADE or bool(tree.kids(at, "agent"))
    return made and bool(tree.kids(at, "nsubj")) and not tree.kids(at, "aux")


_MADE = frozenset("elect appoint name vote promote nominate".split())


def _predicate(tree: Tree, at: int) -> str:
    """ "are together", "the dinner is off": an adverb that says what something is."""
    said = [tree.tokens[i].low for i in tree.kids(at, "advmod", "prt") if i > at and not tree.kids(i, "prep")]
    who = tree.tokens[tree.kid(at, "nsubj") or at].low
    if said and tree.tokens[at + 1].low in ("down", "up") and not (who in _SOMEBODY or is_given_name(who)):
        return tree.tokens[at + 1].low  # "the site is down"
    return next((word for word in said if word in _PREDICATES), "")


_PREDICATES = frozenset({"together", "apart", "off", "over"})
_SOMEBODY = frozenset("i you he she we they who".split())


def _has_lasted(tree: Tree, at: int, parts: Sequence[Part], stretch: Sequence[Part], low: set[str]) -> bool:
    """Whether what has been done goes on: it has been going on, or has for so long, or since then."""
    token = tree.tokens[at]
    going = token.tag == "VBG" and "been" in low
    since = any(p.prep == "since" for p in parts)
    return going or ((bool(stretch) or since) and token.lemma in _ENDURING)


_STRETCHES = frozenset("year month week decade day".split())
_ENDURING = frozenset(
    "be live work have know own play study run lead stay teach date rent drive manage use".split()
)


def _own_words(tree: Tree, at: int) -> frozenset[int]:
    """The words of a clause without the clauses inside it."""
    found, open_ = set(), [at]
    while open_:
        here = open_.pop()
        found.add(here)
        open_ += [i for i in tree.kids(here) if not (_is_head(tree, i) and tree.tokens[i].dep != "xcomp")]
    return frozenset(found)


# Subjects -------------------------------------------------------------------------------------------


def _subjects(tree: Tree, at: int, days: frozenset[int], before: dict[int, Clause]) -> tuple[Noun, ...]:
    token = tree.tokens[at]
    found = next(reversed(tree.kids(at, "nsubj", "nsubjpass", "csubj")), None)  # of two the nearer one
    if found is not None:
        if tree.tokens[found].low in ("that", "which", "who", "whom") and token.dep == "relcl":
            return _described(tree, token.head, days, before)
        if (whole := _counted_out(tree, found)) is not None:
            return tuple(tree.noun(i, days) for i in tree.members(whole))
        if tree.tokens[found].pos in NOUNS or tree.tokens[found].pos in ("DET", "ADJ", "PROPN"):
            return tuple(tree.noun(i, days) for i in tree.members(found))
        return ()
    if token.dep == "acl":
        return _described(tree, token.head, days, before)
    if token.dep == "xcomp" and _told(tree, token.head):
        return tuple(tree.noun(i, days) for i in tree.kids(token.head, "dobj")[:1])
    if token.dep in ("conj", "advcl", "xcomp", "ccomp", "dep") and token.head != at:
        for above in (token.head, *tree.above(token.head)):
            if above in before:
                kept = before[above]
                return kept.subjects if token.dep != "ccomp" else ()
    return ()


def _counted_out(tree: Tree, at: int) -> int | None:
    """ "Both of Tilda's boys", "neither of them": of whom all or none is said."""
    if tree.tokens[at].low not in ("both", "all", "neither", "none", "each"):
        return None
    of = next((i for i in tree.kids(at, "prep") if tree.tokens[i].low == "of"), None)
    return tree.kid(of, "pobj") if of is not None else None


def _described(tree: Tree, at: int, days: frozenset[int], before: dict[int, Clause]) -> tuple[Noun, ...]:
    """Whom a clause behind a noun speaks of: in "he's a buyer, based in Perth" that is he."""
    token = tree.tokens[at]
    if token.dep == "attr" and any(tree.tokens[i].low == "it" for i in tree.kids(token.head, "nsubj")):
        return tuple(tree.noun(i, days) for i in tree.members(at))
    if token.dep == "appos" and tree.tokens[token.head].pos == "PROPN":
        return (tree.noun(token.head, days),)  # "Marko, the guy who fixes our boiler"
    one = token.tag == "NN" or token.low == "one"  # "Selma is the one who feeds the cats"
    above = before.get(token.head) if token.dep == "attr" and one else None
    return above.subjects if above is not None and above.verb == "be" else (tree.noun(at, days),)


_WHOLE = frozenset("nobody none no-one neither all everyone everybody both".split())


def _is_picked_out(tree: Tree, at: int) -> bool:
    """Behind "It wasn't Petra who"."""
    noun = tree.tokens[tree.tokens[at].head]
    it = any(tree.tokens[i].low == "it" for i in tree.kids(noun.head, "nsubj"))
    return tree.tokens[at].dep == "relcl" and noun.dep == "attr" and it and bool(tree.kids(noun.head, "neg"))


def _but_one(
    tree: Tree, own: frozenset[int], days: frozenset[int], whole: tuple[Noun, ...]
) -> tuple[Noun, ...]:
    """ "Nobody speaks Dutch except Wietske": she does. "All of us drive, apart from Tom": he doesn't."""
    if not any(tree.tokens[i].low in _WHOLE and tree.tokens[i].dep in ("nsubj", "nsubjpass") for i in own):
        return whole
    for i in (i for i in own if tree.tokens[i].low in ("except", "but", "apart", "besides")):
        at = tree.tokens[i].head if tree.tokens[i].dep == "cc" else next(iter(tree.kids(i, "prep")), i)
        inner = tree.kid(at, "pobj", "conj")
        if inner is not None and tree.tokens[inner].pos in NOUNS and inner not in {n.at for n in whole}:
            return (*whole, *(replace(n, flipped=True) for n in _nouns(tree, inner, days)))
    return whole


# What stands behind the verb --------------------------------------------------------------------------


def _parts(tree: Tree, at: int, days: frozenset[int]) -> list[Part]:
    found: list[Part] = []
    for i in tree.kids(at):
        token = tree.tokens[i]
        if token.dep in ("dobj", "attr", "oprd", "dative", "npadvmod", "obj") and token.pos in NOUNS | {
            "ADJ",
            "ADV",
            "DET",
        }:
            when = token.dep == "npadvmod" and (token.low in _MANNER or _is_each(tree, i))
            if when and not (tree.tokens[at].lemma == "be" and tree.kid(i, "det") == i - 1 == at + 1):
                continue  # but "Practice is every Tuesday" says nothing else
            kind = {"attr": "attribute", "oprd": "attribute", "npadvmod": "measure", "dative": "dative"}.get(
                token.dep, "measure" if token.lemma in _SHIFTS else "object"
            )
            whom = tree.kid(i, "nsubj")
            if whom is not None and token.dep == "dobj":
                found += _two_objects(tree, whom, i, days)  # "made me editor"
            else:
                nouns = _nouns(tree, i, days)
                if tree.tokens[at].lemma == "be" and tree.tokens[i - 1].low in ("every", "each"):
                    nouns = tuple(replace(n, text=f"{tree.tokens[i - 1].low} {n.text}") for n in nouns[:1])
                found.append(Part("", nouns, i in days, kind))
        elif (
            (whom := tree.kid(i, "nsubj")) is not None
            and token.pos in ("NOUN", "PROPN")
            and token.dep == "ccomp"
        ):
            found += _two_objects(tree, whom, i, days)  # "found itself a home"
        elif token.dep in ("prep", "agent", "dative") and token.pos in (
            "ADP",
            "SCONJ",
            "ADV",
            "VERB",
            "PART",
        ):
            found += _prepositional(tree, i, days, _led_by(tree, i))
        elif token.dep == "xcomp" and token.tag == "VBG":
            joined = [
                k
                for k in tree.kids(i, "conj")
                if tree.tokens[k].low.endswith("ing") and not tree.kids(k, "nsubj")
            ]
            found.append(Part("", tuple(_gerund(tree, k, days) for k in (i, *joined)), False, "activity"))
        elif token.dep == "advmod" and tree.tokens[at].lemma == "be" and tree.kids(i, "prep"):
            for k in tree.kids(i, "prep"):  # "is off to Crete", "is halfway through it", "is back in Rome"
                here = token.low == "back" and tree.tokens[k].low != "from"
                found += _prepositional(tree, k, days, "" if here else token.low)
        elif token.dep == "advmod" and _is_led_back(tree, i, days):
            found += [part for k in tree.kids(i, "prep") for part in _prepositional(tree, k, days, token.low)]
        elif token.dep == "advmod" and token.low in words("place_adverbs.txt") and not _leads(tree, i):
            found.append(Part("", (tree.noun(i, days),), False, "place"))
    weekly = [i for i in tree.kids(at, "npadvmod") if _is_weekly(tree, i) and tree.tokens[at].lemma != "be"]
    if weekly and all(p.prep == "at" and p.nouns[0].pos == "NUM" for p in found):
        day = replace(tree.noun(weekly[0]), text=tree.said(tree.under(weekly[0])))
        found.append(Part("", (day,), False, "measure"))
    return _filled(tree, at, found, days) if tree.tokens[at].dep == "relcl" else found


def _is_weekly(tree: Tree, at: int) -> bool:
    """ "releases every Thursday"."""
    each = any(tree.tokens[i].low in ("every", "each") for i in tree.kids(at, "det"))
    return each and _WEEKDAY.fullmatch(tree.tokens[at].low) is not None


def _is_led_back(tree: Tree, at: int, days: frozenset[int]) -> bool:
    """ "pushed back to the 5th", "went back to Oslo", "sits next to Ida"; but "back in 2017" only says when."""
    led = tree.kids(at, "prep") if tree.tokens[at].low in ("back", "across", "next") else ()
    return any(tree.tokens[i].low != "in" or tree.kid(i, "pobj") not in days for i in led[:1])


_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_SHIFTS = frozenset("night day weekend morning evening hour".split())
"""What somebody works besides a job: "works nights at the bakery"."""
_MANNER = frozenset("way lot bit time times day today tonight yesterday tomorrow week month year".split())
_EACH = frozenset("every each all last next this that these those whole".split())


def _two_objects(tree: Tree, whom: int, what: int, days: frozenset[int]) -> list[Part]:
    """Whom something is given or what somebody is made, where the parser took the two for a sentence."""
    second = tree.noun(what, {*days, whom})
    return [Part("", _nouns(tree, whom, days), False, "dative"), Part("", (second,), False, "attribute")]


def _is_each(tree: Tree, at: int) -> bool:
    """ "every Saturday", "all his life": how often or how long, and nothing that is done."""
    return any(tree.tokens[i].low in _EACH for i in tree.kids(at, "det", "predet", "amod"))


def _nouns(tree: Tree, at: int, days: frozenset[int]) -> tuple[Noun, ...]:
    found = [(i, tree.noun(i, days - {at})) for i in map(tree.measured, tree.members(at))]
    return tuple(replace(n, name=name) if name else n for i, n in found for name in tree.names(i) or [""])


def _gerund(tree: Tree, at: int, days: frozenset[int]) -> Noun:
    """ "likes cooking for friends": the activity as a noun."""
    places = [
        i
        for i in tree.under(at, ("advcl", "conj", "cc", "punct", "relcl", "ccomp"))
        if i not in days and i >= at
    ]
    return Noun(
        tree.said(places[:6]), tree.tokens[at].low, at, (tree.tokens[at].begin, tree.tokens[places[-1]].end), "NOUN"
    )  # fmt: skip


def _leads(tree: Tree, at: int) -> bool:
    """Whether an adverb and the preposition right behind it say where somebody is: "is out for the season"."""
    after = tree.tokens[at + 1] if at + 1 < len(tree.tokens) else None
    be = tree.tokens[tree.tokens[at].head].lemma == "be"
    when = after is not None and after.low in ("until", "till", "since", "on", "from")
    return (
        be
        and not when
        and after is not None
        and after.dep == "prep"
        and after.head in (at, tree.tokens[at].head)
    )


def _led_by(tree: Tree, at: int) -> str:
    before = tree.tokens[at - 1] if at else None
    led = before is not None and before.dep == "advmod" and before.low in words("place_adverbs.txt")
    return before.low if led and before is not None and _leads(tree, at - 1) else ""


def _is_for_good(tree: Tree, at: int) -> bool:
    return tree.tokens[at].low == "for" and at + 1 < len(tree.tokens) and tree.tokens[at + 1].low == "good"


def _prepositional(tree: Tree, at: int, days: frozenset[int], said: str = "") -> list[Part]:
    if _is_for_good(tree, at):
        return []
    prep = f"{said} {tree.tokens[at].low}".strip()
    nouns = [i for i in tree.kids(at, "pobj", "nummod", "amod", "advmod") if tree.tokens[i].dep == "pobj"]
    found: list[Part] = []
    if nouns:
        at_noun = nouns[0]
        found.append(Part(prep, _nouns(tree, at_noun, days), at_noun in days, "prep"))
        for i in tree.kids(at_noun, "prep"):
            inner = tree.kid(i, "pobj")
            if at_noun in days and inner not in days:
                found += _prepositional(tree, i, days)  # "on 3 May at the hospital"
            elif inner in days and inner is not None:
                found.append(Part(tree.tokens[i].low, (tree.noun(inner),), True, "prep"))
    elif (inner := tree.kid(at, "pcomp")) is not None and tree.tokens[inner].tag == "VBG":
        found.append(Part(prep, (_gerund(tree, inner, days),), False, "activity"))
    for i in tree.kids(at, "prep"):
        found += _prepositional(tree, i, days, prep if not nouns else "")
    for i in tree.kids(at, "conj"):
        found += _turned(tree, _prepositional(tree, i, days) if tree.tokens[i].pos == "ADP" else [], at, i)
    return _turned(tree, found, at, at) if tree.kids(at, "neg") else found


def _turned(tree: Tree, parts: list[Part], first: int, other: int) -> list[Part]:
    """ "not on Monday but on Friday", "to Oslo, not to Bergen": the other of the two is so."""
    but = any(tree.tokens[i].low == "but" for i in tree.kids(first, "cc"))
    denied = tree.is_denied(other)
    if denied or (first != other and but and not tree.is_denied(first)):
        return [replace(p, nouns=tuple(replace(n, flipped=True) for n in p.nouns)) for p in parts]
    return parts


def _filled(tree: Tree, at: int, parts: list[Part], days: frozenset[int]) -> list[Part]:
    """In "the bike that I bought" and "the firm I work for" the thing stands in front."""
    front = tree.tokens[at].head
    if any(tree.tokens[i].tag == "WRB" for i in tree.kids(at, "advmod")):
        return parts  # "the restaurant where we met"
    whom = tree.kid(at, "nsubj", "nsubjpass")
    relative = whom is None or tree.tokens[whom].low in ("that", "which", "who")
    found = []
    filled = False
    for part in parts:
        if any(n.text.lower() in ("that", "which", "who", "whom") for n in part.nouns):
            part, filled = replace(part, nouns=(tree.noun(front, days),)), True
        found.append(part)
    if relative or filled:
        return found
    stranded = next((i for i in tree.kids(at, "prep") if not tree.kids(i)), None)
    if stranded is not None:
        return [*found, Part(tree.tokens[stranded].low, (tree.noun(front, days),), False, "prep")]
    if (
        not any(not p.prep and p.kind == "object" and not p.dated for p in found)
        and tree.tokens[at].lemma != "be"
    ):
        return [Part("", (tree.noun(front, days),)), *found]
    return found


# How it is meant ----------------------------------------------------------------------------------------


def _participle(tree: Tree, at: int) -> str:
    particle = _particle(tree, at)
    low = tree.tokens[at].low
    if low == "let" and any(tree.tokens[i].low == "go" for i in tree.kids(at, "xcomp")):
        return "let go"
    return f"{low} {tree.tokens[particle].low}" if particle is not None else low


def _is_over(tree: Tree, seen: Sequence[int], adverbs: set[str]) -> bool:
    if adverbs & {"anymore", "nomore"}:
        return True
    longer = [
        i for place in seen for i in tree.kids(place, "advmod") if tree.tokens[i].low in ("longer", "more")
    ]
    for i in longer:
        before = [t.low for t in tree.tokens[max(0, i - 3) : i]]
        if set(before) & {"no", "not", "n't", "any"}:
            return True
    if any(
        t.low == "longer" and t.head not in seen and tree.tokens[t.head].pos in ("VERB", "AUX")
        for t in tree.tokens
    ):
        return False  # "I eat fish again, so I'm no longer vegetarian"
    said = " ".join(t.low for t in tree.tokens)
    return any(p in said for p in (" any more", " any longer", "no longer")) and bool(
        any(tree.kids(place, "neg") for place in seen) or "no longer" in said
    )


def _is_negated(tree: Tree, seen: Sequence[int], parts: Sequence[Part], subjects: Sequence[Noun]) -> bool:
    if any(tree.kids(place, "neg") for place in seen) or _is_picked_out(tree, seen[0]):
        return True
    if any(tree.tokens[i].low in ("neither", "nor") for n in subjects for i in tree.kids(n.at)):
        return True
    if any(tree.tokens[i].low in ("neither", "none") for place in seen for i in tree.kids(place, "nsubj")):
        return True
    if any(tree.tokens[i].low == "never" for place in seen for i in tree.kids(place, "advmod")):
        return True
    if any(tree.is_denied(n.at) for part in parts[:1] for n in part.nouns[:1] if part.kind != "measure"):
        return True
    return any(
        n.text.lower().split()[0] in ("nobody", "none", "neither", "nothing") for n in subjects if n.text
    )


def _tense(tree: Tree, at: int, low: set[str], marks: _Marks) -> str:
    first = tree.tokens[at]
    joined = first.dep == "conj" and first.tag == "VB" and not tree.kids(at, "aux")
    before = tree.kids(first.head, "aux") if joined else ()  # "will retire and hand over to Kerry"
    if marks.future or low & _WILL or any(tree.tokens[i].low in _WILL for i in before):
        return "future"
    helped = [tree.tokens[i] for i in tree.kids(at, "aux", "auxpass")]
    if any(t.low in ("did", "was", "were", "had", "'d", "got") for t in helped) and not low & {"have", "has"}:
        return "past"
    if any(t.low in ("have", "has", "'ve", "’ve", "'s") and t.lemma == "have" for t in helped):
        return "perfect"
    told = first.tag == "VBN" or base_of(first.low) != "" or first.low == "quit"
    if first.tag == "VBD" or (told and not helped and first.dep != "acl"):
        return "past"
    if first.dep == "acl" and first.tag == "VBN":
        return "present" if first.low in _LASTING else "past"
    return "present"


_WILL = frozenset({"will", "wo", "'ll", "’ll", "shall"})
_LASTING = frozenset(
    "called named based located situated owned run led married engaged employed known".split()
)
"""Participles behind a noun that say what is so, not what was done."""


def _asks(tree: Tree, at: int) -> bool:
    """Part of a question, unless it is something told in passing ("remind me that …", "who lives in …")."""
    if not tree.text.rstrip(" \"”')").endswith("?"):
        return False
    if tree.tokens[at].lemma not in ("know", "hear") and _DID_YOU_KNOW.search(tree.text):
        return False
    for place in (at, *tree.above(at)):
        token = tree.tokens[place]
        if stands_alone(tree, place) and _is_told_first(tree, place):
            return False
        if token.dep in ("relcl", "acl", "advcl") and tree.tokens[token.head].dep != "ROOT":
            return False
        if token.dep == "relcl":
            return False
        if token.dep in ("ccomp",) and tree.tokens[token.head].lemma in (
            "remind",
            "remember",
            "know",
            "note",
            "hear",
            "see",
        ):
            kids = {tree.tokens[i].low for i in tree.kids(place, "mark", "advmod", "dobj", "det")}
            return bool(kids & {"if", "whether", "what", "where", "when", "who", "how", "why"})
        if token.dep == "advcl" and {tree.tokens[i].low for i in tree.kids(place, "mark")} & {
            "since",
            "because",
            "as",
            "now",
        }:
            return False
    return True


def _is_told_first(tree: Tree, at: int) -> bool:
    """ "We're off to Crete, could you water the plants?": the subject in front of its verb, and no word that asks."""
    whom = tree.kid(at, "nsubj", "nsubjpass")
    front = min(tree.under(at), default=at)
    asking = any(tree.tokens[i].tag in ("WP", "WRB", "WDT", "WP$") for i in range(front, at))
    tag = tree.tokens[tree.tokens[at].head].lemma in ("do", "be", "have", "will", "can")  # "…, don't you?"
    return whom is not None and whom < min([at, *tree.kids(at, "aux", "auxpass")]) and not asking and not tag


_DID_YOU_KNOW = re.compile(
    r"\b(?:did you (?:know|hear)|you know|have you heard|(?:did|have) (?:I|we) (?:tell you|told you|mention\w*)) "
    r"(?!(?:if|whether|what|where|when|who|how|why|which|about|of|any)\b)",
    re.I,
)
"""What follows is told and not asked."""


def _orders(tree: Tree, at: int, subjects: Sequence[Noun]) -> bool:
    token = tree.tokens[at]
    goes_on = token.dep == "conj" and tree.tokens[at - 1].low == "and"  # "I'm tall and wear size 45"
    told = tree.kids(at, "nsubj", "nsubjpass", "expl") or (subjects and (token.tag != "VB" or goes_on))
    if told or token.dep in ("relcl", "acl", "ccomp", "advcl", "xcomp"):
        return False
    if token.lemma in FEELING:
        return False  # nobody is ordered to love basil
    helped = any(tree.tokens[i].low not in ("do", "please") for i in tree.kids(at, "aux"))
    return token.tag in ("VB", "VBP") and not helped and not tree.kids(at, "nsubj", "nsubjpass")


def _is_doubtful(tree: Tree, at: int, adverbs: set[str]) -> bool:
    if adverbs & {"maybe", "perhaps", "probably", "possibly", "supposedly", "apparently"}:
        return True
    token = tree.tokens[at]
    return bool(
        token.dep == "ccomp"
        and tree.tokens[token.head].lemma in ("think", "guess", "believe", "assume", "suspect", "seem")
    )


def _adds(tree: Tree, own: frozenset[int]) -> bool:
    said = {tree.tokens[i].low for i in own}
    return bool(said & {"another", "second", "additional", "extra"}) or "as well" in tree.text.lower()


# How it reads ---------------------------------------------------------------------------------------


def _reads(tree: Tree, clause: Clause, end: int, low: set[str], passive: bool, ought: bool) -> str:
    """The verb after a name in the third person: "lives", "bought", "is run", "does not eat"."""
    base = clause.verb if clause.verb == "have" else _with_particle(tree, end)
    lemma, _, particle = base.partition(" ")
    tail = f" {particle}" if particle else ""
    tense = "past" if clause.tense in ("past", "perfect") else clause.tense
    if passive:
        forms = _GOT if clause.verb.startswith("get ") and not clause.negated else _WAS
        be = forms.get(clause.tense, forms["present"]) + (" no longer" if clause.over else "")
        words_ = f"{be} {_participle(tree, end)}"
        return _negated(words_, be, clause.negated)
    if lemma == "be" and clause.used:
        return f"used to be {clause.word}".strip()
    if lemma == "be":
        if clause.tense == "perfect" and not clause.word and any(p.prep == "to" for p in clause.parts):
            return "has not been" if clause.negated else "has been"
        be = {"past": "was", "future": "will be"}.get(clause.tense, "is")
        be = f"{be} no longer" if clause.over else be
        return _negated(f"{be} {clause.word}".strip(), be, clause.negated)
    if clause.used:
        return f"used to {base}"
    if clause.over:
        return f"no longer {third_person(lemma)}{tail}"
    modal = next((m for m in ("can", "ca", "must") if m in low), "")
    if modal or ought:
        word = "must" if ought or modal == "must" else "can"
        spoken = f"{word} not" if clause.negated and word == "must" else "cannot" if clause.negated else word
        return f"{spoken} {base}"
    if clause.plan:
        return f"plans to {base}"
    if clause.tense == "future":
        return f"will {'not ' if clause.negated else ''}{base}"
    said = base if not clause.word else f"{base} {clause.word}".strip()
    if clause.negated:
        return f"{'did' if tense == 'past' else 'does'} not {said}"
    tail = f"{tail} {clause.word}".rstrip() if clause.word and lemma != "be" else tail
    verb = tree.tokens[end]  # as it was said, so that no word is made up
    if tense == "past":
        told = verb.low if verb.tag == "VBD" and verb.low.isalpha() else past(verb.low, lemma)
        return f"{told}{tail}"
    told = verb.low if verb.tag == "VBZ" and verb.low.isalpha() else third_person(lemma)
    return f"{told}{tail}"


_WAS = {"past": "was", "future": "will be", "present": "is"}
_GOT = {"past": "got", "perfect": "got", "future": "will get", "present": "gets"}


def _negated(said: str, be: str, negated: bool) -> str:
    return said.replace(be, f"{be} not", 1) if negated else said
