"""From clauses to claims: what a sentence says about whom, in which family of relations.

Decides whom pronouns and owners mean within the message, which wordings fall into a family and with
which effect, and what is worth keeping at all. Whoever cannot be told makes no claim.

    "My sister Rosa moved to Lisbon." by Ana → Ana's sister is Rosa; Rosa lives in Lisbon (begins)
"""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from worldline.lexicon import lines, words
from worldline.reading.claim import PLAN, Claim, aspects, is_given_name, is_somebody, predicate_key, stem
from worldline.reading.clauses import FEELING, Clause, Part, clauses
from worldline.reading.ellipsis import in_turn
from worldline.reading.families import plural
from worldline.reading.matching import HABIT, PLACED, PLACES
from worldline.reading.nouns import STRETCHES
from worldline.reading.parser import GONE_TO, Noun, Token
from worldline.reading.whole import Worded
from worldline.reading.whom import FRESH, ME, NUMBER, THEY, YOU, Said, Talk
from worldline.text import stop

DID = "did "
"""Opens the slot of what happened."""


class Stated(Struct, frozen=True):
    """What a sentence states besides its claims."""

    chars: tuple[int, int]
    tokens: list[Token]
    moved: list[tuple[str, tuple[str, ...]]]
    unsure: bool
    """Whether something in it is asked, imagined, quoted or ordered."""


def claims_of(said: Said, talk: Talk) -> tuple[list[Claim], Stated]:
    """Everything that a sentence claims, in order, and what it states."""
    reader = _Reader(said, talk)
    found, tokens = reader.read(), said.tree.tokens
    chars = (said.begin + tokens[0].begin, said.begin + tokens[-1].end)
    unsure = any(c.asks or c.unreal or c.quoted or c.orders for c in reader.clauses)
    return found, Stated(chars, reader.stated(), reader.moved(), unsure)


class _Reader(Worded):
    """One sentence being read: what it says, besides who is who and which families there are."""

    def read(self) -> list[Claim]:
        if noted := self._noted_day():
            for claim, noun in noted:
                self._keep(claim, noun)
            return self.found
        self._roles()
        self._first_days()
        self._topic()
        self.clauses = clauses(self.tree, self.days)
        for clause in self.clauses:
            self._note_names(clause.at)
            for each in (way for turn in in_turn(self.tree, clause) for way in turn.both_ways):
                self._clause(each)
        for claim, noun in self._noted():
            self._keep(claim, noun)
        self._note_names(len(self.tree.tokens))
        return self.found

    def stated(self) -> list[Token]:
        """The words outside of what is asked, imagined or quoted."""
        if not self.clauses:
            return [] if self.tree.text.rstrip().endswith("?") else list(self.tree.tokens)
        out = [
            c
            for c in self.clauses
            if c.asks or c.unreal or c.quoted or self._is_to_come(c) or c.lemma in _WEIGHING or self._stays(c)
        ]
        if any(c.dep == "ROOT" for c in out):
            kept = {i for c in self.clauses if c not in out for i in c.own}
        else:
            kept = set(range(len(self.tree.tokens))) - {i for c in out for i in c.own}
        kept -= {
            c.at
            for c in self.clauses
            if c.lemma == "leave" and self.tree.kid(c.at, "oprd", "acomp") is not None
        }
        return [self.tree.tokens[i] for i in sorted(kept)]  # "left Slack open" leaves nothing behind

    def _is_to_come(self, clause: Clause) -> bool:
        """Whether something is meant to happen, and no day is told for it: as yet nothing has changed."""
        return clause.plan or (clause.tense == "future" and not self._its_days(clause))

    def _stays(self, clause: Clause) -> bool:
        """ "payroll does not shift to Monday", "the planned move away was dropped": nothing has changed."""
        if clause.lemma in _DROPPING or clause.verb == "be off":
            things = [n for p in clause.parts if not p.prep for n in p.nouns] or list(clause.subjects)
            return any(n.lemma in _MOVES and not _AWAY.isdisjoint(n.text.split()) for n in things)
        if not clause.negated or clause.over:
            return False
        return (
            clause.lemma in aspects() or clause.lemma in _PARTING or clause.verb in lines("leaving_cues.txt")
        )

    def _is_somebody(self, noun: Noun) -> bool:
        return noun.pronoun or self._is_person(noun) or is_given_name(noun.text.partition(" ")[0])

    def moved(self) -> list[tuple[str, tuple[str, ...]]]:
        """Verbs of change with the words of the thing that they are done to."""
        found = []
        for clause in self.clauses:
            verb = clause.word if clause.lemma == "be" else clause.lemma
            real = not (clause.asks or clause.unreal or clause.quoted or clause.negated)
            if verb not in aspects() or not real or (clause.tense == "future" and self._is_to_come(clause)):
                continue
            direct = [
                n for p in clause.parts if not p.prep and p.kind == "object" and not p.dated for n in p.nouns
            ]
            told_of = [n for n in clause.subjects if "place" in aspects()[verb] or not self._is_somebody(n)]
            for noun in direct or told_of:  # whoever has changed is still who he is
                said = (
                    [noun.owner, noun.text]
                    if noun.owner and noun.owner.lower() not in ME | THEY | YOU
                    else [noun.text]
                )
                found.append(
                    (
                        verb,
                        tuple(
                            stem(w) for w in " ".join(said).lower().split() if len(w) > 1 and w not in stop()
                        ),
                    )
                )
        return found

    def _joined(self, clause: Clause) -> Clause:
        """The clause without what a comma keeps apart from its verb: "Slab poured, 18 m3", "Alarm off, no faults"."""
        kept = tuple(p for p in clause.parts if not self._is_apart(clause, p))
        if clause.negated and kept != clause.parts:
            clause = replace(clause, negated=False, reads=self.tree.tokens[clause.at].low)
        return replace(clause, parts=kept)

    def _is_apart(self, clause: Clause, part: Part) -> bool:
        if part.prep or part.dated or part.kind not in ("measure", "object") or not part.nouns:
            return False
        begin, end = self.tree.tokens[clause.at].end - self._offset, part.nouns[0].chars[0] - self._offset
        return _APART.fullmatch(self.tree.text[begin:end]) is not None

    def _clause(self, clause: Clause) -> None:
        clause = self._joined(clause)
        usable = not (clause.asks or clause.unreal or clause.quoted or clause.aim)
        told = [n.text.lower() for n in clause.subjects] in ([], ["you"])  # "you can reach me on …"
        reached = self._reached_at(clause) if usable and (clause.orders or told) else []
        for claim in reached:
            self._keep(claim, None, clause)
        if not usable or reached or clause.orders or self._is_fiction(clause) or self._is_background(clause):
            named = [(noun, self.whom(noun)) for noun in clause.subjects if noun.proper or noun.name]
            self._note_all(replace(clause, parts=()), named)
            return
        for claim in (*self._there_is(clause), *self._there_is_on(clause)):
            self._keep(claim, None, clause)
        subjects = [(noun, self.whom(noun)) for noun in clause.subjects] or self._unsaid(clause)
        made: list[Claim] = []
        direct = any(not p.prep and p.kind == "object" and not p.dated for p in clause.parts)
        direct &= clause.verb != "share"
        if len(subjects) == 2 and not direct and (prep := _BETWEEN.get(clause.verb)) is not None:
            if subjects[1][1] == self.talk.speaker:
                subjects.reverse()
            other = Part(prep, (subjects[1][0],), False, "prep" if prep else "object")
            clause = replace(clause, parts=(*clause.parts, other))
            subjects = subjects[:1]
        for noun, name in subjects:
            if noun.lemma in _OWNING and noun.of is not None and clause.lemma in _PASSING:
                clause, noun = replace(clause, verb="be handed"), noun.of  # "Ownership of S went to O"
                name = self.whom(noun)
            if self._may_be_subject(noun, name, clause):
                self.subject, self.doing = noun, name
                made += [c for c in self._about(clause, noun, name) if self._is_told(c, clause, noun)]
                self.doing = ""
            elif not name and noun.text.lower() in _ANYBODY:
                made += self._in_families(clause, noun, "") or self._its_day(clause, noun)
        before = len(self.found)
        for claim in made:
            self._keep(claim, None, clause)
        kept = self.found[before:]
        self._keep(self._as_well(clause, kept) if kept else self._as_said(clause, subjects), None, clause)
        self._note_all(clause, subjects)

    def _is_told(self, claim: Claim, clause: Clause, noun: Noun) -> bool:
        """Whether a claim says something of somebody: not what is possible, nor what holds of all such things."""
        valued = (
            claim.kind == "date"
            or any(c.isupper() or c.isdigit() for c in claim.object)
            or bool(NUMBER.match(claim.object) or HABIT.match(claim.object))
        )
        if clause.reads.startswith("can "):
            return claim.key in _ABLE or claim.key.startswith("do|") or bool(NUMBER.search(claim.object))
        if clause.tense == "future" and claim.object == self.talk.addressee != "":
            return False  # "I'll call you later"
        if claim.predicate.endswith(" for") and claim.object == self.talk.speaker and not noun.proper:
            return self._is_person(noun) or clause.lemma not in (
                "work",
                "be",
                "do",
            )  # "that won't work for me"
        if clause.tense == "future" and claim.of_speaker and not claim.family and not self._its_days(clause):
            return valued or clause.negated
        common = noun.pos == "NOUN" and not (noun.proper or noun.owner or noun.name or noun.of)
        named = (noun.at == 0 and self._is_one(clause)) or self._is_noted(clause, noun)
        kind = common and not named and noun.article in _ANY
        return (
            valued
            or not kind
            or claim.effect == "ends"
            or clause.word in ("called", "named")
            or self.talk.topic != ""
            or bool(self._its_days(clause))
        )

    def _is_noted(self, clause: Clause, noun: Noun) -> bool:
        """ "Spare key is under the pot", "Favourite tea is oolong": a note leaves out whose it is."""
        opens = min(self.tree.under(noun.at)) == 0 and self.tree.tokens[noun.at].tag == "NN"
        if not opens or clause.lemma != "be" or clause.tense != "present":
            return False
        there = [n for p in clause.parts if p.prep in PLACES and not p.dated for n in p.nouns]
        certain = any(n.article == "the" or n.owner or n.proper for n in there)
        return certain or self.tree.tokens[0].low in _CHOSEN

    def _is_one(self, clause: Clause) -> bool:
        """ "Sorrel is a keen reader"; "Jules conducts": looks like a plural, but its verb says that it is one."""
        first, verb = self.tree.tokens[0], self.tree.tokens[clause.at]
        return first.tag == "NN" or (first.tag == "NNS" and verb.tag == "VBZ" and first.text[:1].isupper())

    def _unsaid(self, clause: Clause) -> list[tuple[Noun, str]]:
        """ "Sold the car." speaks of the one who speaks, "Takes insulin." of whom the note is about."""
        token = self.tree.tokens[clause.at]
        done = any(p.prep == "by" and not p.dated for p in clause.parts) or clause.lemma in _HANDED_ON
        if done and not any(not p.prep and p.kind == "object" for p in clause.parts) and not self.talk.topic:
            return [(self._made_up(self.talk.thing, clause), self.talk.thing)] if self.talk.thing else []
        about = self.talk.topic or (self.talk.person or self.talk.thing if token.tag == "VBZ" else "")
        first = clause.dep == "conj" or token.tag == "VBD"  # "Broke my wrist, fell off the ladder"
        begun = [c.at for c in self.clauses if c.at < clause.at and first]
        begun = [i for i in begun if self.tree.tokens[i].tag in ("VBD", "VBN")]
        front = range(min(begun, default=clause.at))
        opens = all(self.tree.tokens[i].pos in _OPENING for i in front)
        opens = opens and not any(c.subjects for c in self.clauses if c.at < clause.at)
        if (
            clause.dep in ("ROOT", "conj", "parataxis", "advcl", "ccomp")
            and (token.tag in ("VBD", "VBN", "VBG", "VBZ") or token.low in FEELING)
            and opens
        ):
            if about:
                return [(self._made_up(about, clause), about)]
            if (
                token.tag in ("VBD", "VBN")
                and not is_somebody(self.talk.speaker)
                and (about := self.talk.thing)
            ):
                return [(self._made_up(about, clause), about)]
            if token.tag != "VBZ" and is_somebody(self.talk.speaker):
                return [(Noun("I", "i", clause.at, (token.begin, token.begin), "PRON"), self.talk.speaker)]
        return []

    def _made_up(self, name: str, clause: Clause) -> Noun:
        """A subject that is not said."""
        begin = self.tree.tokens[clause.at].begin
        return Noun(name, name, clause.at, (begin, begin), "PROPN")

    def _is_background(self, clause: Clause) -> bool:
        """ "since I was a child", "while I'm away": when something else is so."""
        marks = {self.tree.tokens[i].low for i in self.tree.kids(clause.at, "mark", "advmod")}
        return clause.dep in ("advcl", "ccomp") and clause.lemma == "be" and not marks.isdisjoint(_WHENEVER)

    def _is_fiction(self, clause: Clause) -> bool:
        """ "a story in which Klara is a detective"."""
        inside = [clause.at, *self.tree.above(clause.at)]
        tokens = self.tree.tokens
        return any(
            tokens[i].dep in ("relcl", "acl") and tokens[above].lemma in _FICTION
            for i, above in pairwise(inside)
        )

    def _may_be_subject(self, noun: Noun, name: str, clause: Clause) -> bool:
        if not name or (self._is_idle(noun) and not noun.pronoun and not noun.name):
            return False
        person = noun.indefinite and self._is_person(noun)
        if (
            noun.indefinite
            and not (noun.proper or noun.name)
            and (person or clause.tense != "present")
            and clause.dep not in ("relcl", "acl")
        ):
            return False
        named = " " in noun.text and noun.article not in ("every", "each", "this", "that", "last", "next")
        first = noun.text.partition(" ")[0].lower()
        named = named and first not in ("last", "first", "next", "whole", "other", "good", "bad", "long")
        return noun.pos != "NUM" and (noun.lemma not in STRETCHES or noun.lemma == "shift" or named)

    def _about(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """What a clause says of one of its subjects."""
        spoken = {self.tree.tokens[i].tag for i in clause.own if self.tree.tokens[i].pos in ("VERB", "AUX")}
        if (
            self.tree.tokens[noun.at].tag == "NNS"
            and not noun.name
            and not noun.proper
            and "VBZ" not in spoken
        ):
            clause = replace(clause, reads=plural(clause.reads))
        adjective = self.tree.kid(clause.at, "acomp")
        others = self.tree.members(adjective)[1:] if adjective is not None and clause.word else []
        more = [self._with_word(clause, self.tree.tokens[i].low) for i in others]
        parts = [c for each in more for c in self._being(each, noun, name) or []]
        listed = bool(more) or any(len(p.nouns) > 1 for p in clause.parts) or len(clause.subjects) > 1
        told = [*self._said_of(clause, noun, name), *parts]
        return self._beside(told, noun) if listed else told

    def _beside(self, claims: list[Claim], noun: Noun) -> list[Claim]:
        """The values of a list hold beside each other: "My hobbies are chess and judo", "I live in Porto and Lagos"."""
        several = self.tree.tokens[noun.at].tag == "NNS" and not noun.name
        found: list[Claim] = []
        for claim in claims:
            kin = [
                c
                for c in claims
                if (c.subject, c.key, c.predicate) == (claim.subject, claim.key, claim.predicate)
            ]
            if len(kin) > 1 and claim.holds == "one" and claim.effect != "ends" and not claim.negated:
                first = claim is kin[0]
                claim = (
                    replace(claim, holds="many")
                    if several
                    else claim
                    if first
                    else replace(claim, cue="adds")
                )
            found.append(claim)
        return found

    def _with_word(self, clause: Clause, word: str) -> Clause:
        reads = f"{clause.reads.removesuffix(clause.word)}{word}"
        return replace(clause, word=word, verb=f"{clause.verb.split()[0]} {word}", reads=reads)

    def _said_of(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """The same of one adjective only."""
        clause = self._with_company(self._phrasal(clause))
        whole, clause = clause, self._split_objects(clause)
        if clause.plan and not clause.over:
            return self._open(clause, name)
        if made := self._made(clause, name) or self._has_got(clause, name):
            return made
        if on_a_day := self._has_on(clause, name) or self._moved_along(clause, noun):
            return on_a_day
        if len(pair := self._named_pair(clause)) == 2:
            return self._names_it(clause, *pair)
        if at_it := self._at_it(clause, noun, name):
            return at_it
        if kept := self._kept_in(clause, name):
            return kept
        if (
            clause.verb.split()[0] in ("be", "become", "remain", "go", "turn", "stay")
            and (clause.word or clause.lemma == "be")
            and clause.verb not in ("be called", "be named")
        ):
            told = self._being(clause, noun, name)
            if told or (told is not None and clause.lemma in _LINKING):
                return told
        if clause.verb in ("be called", "be named", "go"):
            told = self._called(clause, noun, name)
            if told or clause.dep == "acl":
                return told
        found = self._in_families(clause, noun, name)
        if clause.over and found and not any(c.object for c in found):
            return [*found, *self._habit(clause, name)]  # "stopped smoking": a habit of not doing it
        if clause.verb == "have" and any(
            self._is_opinion(n) for p in clause.parts if not p.prep for n in p.nouns
        ):
            return [c for c in found if c.family not in ("", "owns")]
        direct = next((p for p in clause.parts if not p.prep and p.kind == "object" and not p.dated), None)
        if (
            clause.tense == "present"
            and direct is not None
            and len(found) == 1
            and found[0].effect == "holds"
        ):
            further = self._further(clause, name, direct)
            placed = [c for c in further if c.predicate.endswith(" in")] if direct.nouns[0].indefinite else []
            if placed and found[0].object == direct.nouns[0].text:  # "runs a bakery in Graz"
                found = [replace(found[0], object=f"{found[0].object} in {placed[0].object}")]
            else:
                found += [c for c in further if c.object != found[0].object]
        apart = {n.text for p in clause.parts if p.kind == "split" for n in p.nouns}
        if apart and not any(a in f"{c.subject} {c.object}" for c in found for a in apart):
            found = self._in_families(whole, noun, name)
        return found or self._no_longer(clause, name) or self._habit(clause, name) or self._open(whole, name)

    def _at_it(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """ "The lift is working again": a state that is told as if it were done."""
        doing, helped = self.tree.tokens[clause.at], self.tree.kids(clause.at, "aux")
        going = doing.tag == "VBG" and [self.tree.tokens[i].lemma for i in helped] == ["be"]
        if not going or clause.tense != "present" or noun.pronoun or self._is_who(noun, name) == "person":
            return []
        if not self.families.by_word(doing.low) or not all(p.dated for p in clause.parts):
            return []
        said = replace(clause, word=doing.low, verb=f"be {doing.low}", reads=f"is {doing.low}")
        return self._in_state(said, name)

    def _habit(self, clause: Clause, name: str) -> list[Claim]:
        """ "I don't drive", "Theo can't swim", "she quit smoking": what somebody does, without an object."""
        parts = [p for p in clause.parts if not p.dated]
        verb, over = clause.lemma, clause.over
        if clause.verb in _GIVING_UP and len(parts) == 1 and parts[0].nouns:
            done = parts[0].nouns[0].text.lower()
            verb = next(
                (h for h in words("habits.txt") if done in (f"{h}ing", f"{h[:-1]}ing", f"{h}{h[-1]}ing")), ""
            )
            over, parts = True, []
        if verb not in words("habits.txt") or parts or clause.plan:
            return []
        able = any(self.tree.tokens[i].low in ("can", "ca", "could", "allowed") for i in clause.own)
        if clause.tense not in ("present", "perfect") and not over:
            return []
        negated = clause.negated or over
        does = ("cannot" if able else "does not") if negated else "can" if able else "does"
        claim = self._claim(name, does, f"do|{verb}", verb, "text", clause)
        others = tuple(
            dict.fromkeys(p.family.name for p in self.families.by_verb(verb) if p.effect == "holds")
        )
        return [replace(claim, negated=negated, event=False, holds="one", matter=verb, others=others)]

    def _made(self, clause: Clause, name: str) -> list[Claim]:
        """ "was elected treasurer of the club", "became our coach": a role that somebody has from then on."""
        parts = [p for p in clause.parts if not p.prep and p.kind in ("attribute", "object") and not p.dated]
        if clause.lemma not in _MAKING or not parts or clause.negated or clause.over:
            return []
        part, *rest = parts
        if part.kind == "object" and (by := self._made_by(clause, name, part)):
            return by
        if part.kind == "object" and rest:  # "they elected Miguel chair of the club"
            whom, clause = self.whom(part.nouns[0]), replace(clause, parts=tuple(rest), lemma="become")
            told = self._made(clause, whom) if whom else []
            return [replace(c, predicate=f"{name} {clause.reads} {{O}}{c.predicate.partition(clause.reads)[2]}")
                    for c in told]  # fmt: skip
        owner, role = self._holder(part.nouns[0])
        done = clause.lemma != "become" and clause.verb.split()[0] not in ("be", "get")
        if done or not owner or not role or not self.families.by_noun(role):
            return []  # who elects a captain is none
        claim = self._noun_claim(owner, role, name, "entity", None, part.nouns[0])
        joined = f"{role} {self._joined_by(part.nouns[0])} {{S}}"
        said = f"{{S}}'s {role}" if part.nouns[0].of is None else joined
        return [replace(claim, effect="begins", predicate=f"{{O}} {clause.reads} {said}")]

    def _has_got(self, clause: Clause, name: str) -> list[Claim]:
        """ "I've got a new dentist, Dr Adeyemi": somebody has that role now."""
        part = next((p for p in clause.parts if not p.prep and p.kind == "object" and not p.dated), None)
        if clause.lemma not in ("have", "get") or part is None or clause.negated or clause.over:
            return []
        noun = part.nouns[0]
        several = self.tree.tokens[noun.at].tag == "NNS"
        role = noun.lemma if several else self.tree.short(noun).text
        called = noun.name or self.tree.called(noun.at)
        if not called or noun.proper or not self._is_human(noun):
            return []
        clause = replace(clause, tense="present")
        claim = self._noun_claim(name, FRESH.sub("", role), called, "entity", clause, noun)
        return [replace(claim, cue=claim.cue or "closes") if FRESH.match(role) else claim]

    def _kept_in(self, clause: Clause, name: str) -> list[Claim]:
        """ "I keep my passport in the safe": where it is, as long as it is kept there."""
        things = [
            n for p in clause.parts if p.kind == "object" and not p.prep and not p.dated for n in p.nouns
        ]
        where = next((p for p in clause.parts if p.prep in PLACES and not p.dated and p.nouns), None)
        told = clause.lemma in _KEEPING and clause.tense == "present" and not (clause.negated or clause.over)
        if (
            not told
            or where is None
            or len(things) != 1
            or things[0].indefinite
            or not (thing := self.whom(things[0]))
        ):
            return []
        value, kind = self._value(where.nouns[0], where, name)
        said = f"{name} {clause.reads} {{S}} {where.prep} {{O}}".replace(f"{name}'s ", "")
        claim = self._claim(thing, said, PLACED, value, kind, clause)
        return [replace(claim, holds="one", matter=things[0].lemma)] if value else []

    def _being(self, clause: Clause, noun: Noun, name: str) -> list[Claim] | None:
        """What somebody or something is; None where a verb's rules apply instead."""
        if clause.word:
            owner, role = self._holder(noun)
            adjective = self.tree.kid(clause.at, "acomp")
            moody = clause.word in words("mood_adjectives.txt") or clause.word in words(
                "lasting_adjectives.txt"
            )
            noun_like = adjective is not None and not moody and not self.families.by_word(clause.word)
            if owner and role and noun_like and not self._is_person(noun) and self.families.by_noun(role):
                return [self._noun_claim(owner, role, clause.word, "text", clause)]
            return self._in_families(clause, noun, name) or self._in_state(clause, name)
        attributes = [
            (n, p)
            for p in clause.parts
            if not p.prep and p.kind in ("attribute", "measure", "object")
            for n in p.nouns
        ]
        if not attributes:
            return self._somewhere(clause, noun, name)
        if noun.text.lower() == "it" and any(
            n.proper and self.tree.kids(n.at, "relcl") for n, _ in attributes
        ):
            return []  # "It was Bertil who …" says only what follows
        found: list[Claim] = []
        for what, part in attributes:
            found += self._is(clause, noun, name, what, part)
        return found

    def _its_day(self, clause: Clause, noun: Noun) -> list[Claim]:
        """ "It's Bola's birthday on Sunday": the day is the birthday's."""
        days = self._its_days(clause)
        what = next((p.nouns[0] for p in clause.parts if p.kind == "attribute" and not p.dated), None)
        owner, role = self._holder(what) if what is not None else ("", "")
        if clause.verb != "be" or noun.text.lower() != "it" or not days or not (owner and role):
            return []
        if what is None or self._is_person(what):
            return []
        prep, _, said = self.days[days[0]].text.rpartition("on ")
        return [self._noun_claim(owner, f"{role}{' on' if prep else ''}", said, "date", clause)]

    def _is(self, clause: Clause, noun: Noun, name: str, what: Noun, part: Part) -> list[Claim]:
        """One "A is B"."""
        if (whose := self._whose(what)) and name and self._is_who(noun, name) != "person":
            claim = self._noun_claim(name, "owner", whose, "entity", clause, what)
            return [replace(claim, predicate="does not belong to" if claim.negated else "belongs to")]
        mine = what.text.lower() in ("mine", "yours", "ours", "hers", "theirs")
        if what.lemma == "one" and (thing := self._comes_with(what)) is not None:
            has = "does not have" if clause.negated else "has"
            return self._in_families(
                replace(clause, verb="have", reads=has, parts=(Part("", (thing,)),)), noun, name
            )
        counted = NUMBER.match(what.text) and what.lemma != "one"
        idle = what.lemma in words("idle_nouns.txt") and not counted
        if not part.dated and (mine or idle or what.pronoun):
            return []
        today = [i for i in clause.own if self.tree.tokens[i].low in ("today", "tonight", "away")]
        if (
            not part.dated
            and not self._since(clause)
            and any(self.tree.tokens[i].dep != "poss" for i in today)
        ):
            return []
        owner, role = self._holder(noun)
        if not owner and what.proper and not noun.proper and (served := self._served_by(noun.text.lower())):
            owner, role = served, noun.lemma
        attr_owner, attr_role = self._holder(what)
        if what.indefinite and (where := self._employer(clause, what, noun, name)):
            return self._employed(clause, name, what, where)  # "I'm a midwife at Oakhaven Hospital"
        person = self._is_person(noun) and not noun.proper
        if owner and role.lower() in ("name", "first name", "nickname") and not part.dated:
            whose, _, what_of = owner.rpartition("'s ")  # "the neighbour's name is Derek", "my sister's name"
            if (kin := FRESH.sub("", what_of)).lower() in words("person_roles.txt"):
                return [self._noun_claim(whose or self.talk.speaker, kin, what.text, "entity", clause, what)]
            return [self._name_claim(owner, what.text, clause)]
        named = what.proper or (what.text[:1].isupper() and not what.indefinite)
        if owner and role and (part.dated or named or not person):
            kind = "date" if part.dated else "entity" if what.proper else "text"
            said = self._value(what, part, owner)[0] or what.text
            return [self._noun_claim(owner, role, said, kind, clause, what)]
        if attr_owner and attr_role and (noun.proper or noun.pronoun or noun.name) and not part.dated:
            several = self.tree.tokens[what.at].tag == "NNS"  # "Tom and Lisa are my best friends"
            attr_role = self._one_such(attr_role) if several else attr_role
            claim = self._noun_claim(attr_owner, attr_role, name, "entity", clause, what)
            claim = (
                replace(claim, holds="many") if what.indefinite or several else claim
            )  # "a maintainer of pixelkit"
            said = f"{{S}}'s {attr_role}" if what.of is None else f"{attr_role} {self._joined_by(what)} {{S}}"
            return [replace(claim, predicate=f"{{O}} {clause.reads} {said}")]
        titled = all(w[:1].isupper() for w in what.text.split()) and len(what.text.split()) <= 3
        if (
            noun.pronoun
            and what.proper
            and name == self.talk.speaker
            and titled
            and not what.owner
            and not what.article
        ):
            return [self._name_claim(name, what.text, clause)]
        found = [] if self._names_amount(name, what) else self._in_families(clause, noun, name)
        if any(c.object == what.text for c in found):
            return found
        if HABIT.match(what.text) and not part.dated:
            return found
        short = self.tree.short(what) if found else what
        more = self._attribute(name, short, clause.reads, clause, part)
        return [*found, more] if more is not None else found

    def _employer(self, clause: Clause, what: Noun, noun: Noun, name: str) -> str:
        """The name behind "at", where somebody is something there."""
        if self._is_who(noun, name) != "person":
            return ""
        if what.of is not None:
            return self.whom(what.of) if what.of.proper and self._joined_by(what) == "at" else ""
        known = what.lemma in words("professions.txt") or what.lemma in words("person_roles.txt")
        behind = [n for p in clause.parts if p.prep == "at" and not p.dated for n in p.nouns if n.proper]
        return self.whom(behind[0]) if known and behind else ""

    def _employed(self, clause: Clause, name: str, what: Noun, where: str) -> list[Claim]:
        """What somebody is, and where: two facts."""
        role = self._attribute(name, self.tree.short(what), clause.reads, clause)
        family = self.families.all["works_at"]
        claim = self._claim(name, family.reads, family.name, where, "entity", clause)
        place = self._with_family(claim, family, "holds", clause, what)
        return [place] if role is None else [role, place]

    def _somewhere(self, clause: Clause, noun: Noun, name: str) -> list[Claim]:
        """ "is in Porto", "is at Jo's place", "is downstairs", "is with the exam board", "is on hold"."""
        for one in clause.parts:
            state = f"{one.prep} {one.nouns[0].text.lower()}" if one.prep and one.nouns else ""
            if state and self.families.by_word(state):
                others = tuple(p for p in clause.parts if p is not one)
                stated = replace(clause, word=state, reads=f"{clause.reads} {state}", parts=others)
                return self._in_state(stated, name)
        apart = [
            p
            for p in clause.parts
            if p.nouns and (p.prep in ("in", "at", "on") or (p.prep == "with" and p.nouns[0].proper))
        ]
        first = apart[0].nouns[0] if len(apart) == 2 and not apart[0].dated else None
        bare = first is not None and first.pos == "NOUN" and not (first.article or first.owner)
        where = apart[1] if bare and first is not None and not HABIT.match(first.text) else None
        if first is not None and where is not None and where.nouns[0].proper and not where.dated:
            said = f"{clause.reads} {apart[0].prep} {first.text}"  # "is on holiday in Lofoten"
            rest = tuple(p for p in clause.parts if p is not apart[0])
            return self._somewhere(replace(clause, reads=said, parts=rest), noun, name)
        if len(apart) > 1 and apart[0].kind == "prep":
            rest = tuple(p for p in clause.parts if p not in apart)
            return [c for p in apart for c in self._somewhere(replace(clause, parts=(p, *rest)), noun, name)]
        owner, role = self._holder(noun)
        when = next((p for p in clause.parts if p.dated and p.prep not in ("as of", "since", "from")), None)
        if when is not None and owner and role:
            said = self._value(when.nouns[0], when, owner)[0]
            claim = self._noun_claim(owner, role, said, "date", clause, when.nouns[0])
            return [replace(claim, predicate=f"{claim.predicate} {when.prep}".strip())]
        found = self._in_families(clause, noun, name)
        if found:
            return [self._as_home(c, clause, noun) for c in found]
        part = next(
            (p for p in clause.parts if not p.dated and p.nouns and p.kind in ("prep", "place", "activity")),
            None,
        )
        part = part or next(
            (p for p in clause.parts if p.dated and p.prep and p.prep not in ("as of", "since")), None
        )
        if part is None:
            return []
        claims = []
        for what in part.nouns:
            value, kind = self._value(what, part, name)
            if value and part.prep not in ("like", "because", "than", "about"):
                claim = self._claim(
                    name,
                    f"{clause.reads} {part.prep}".strip(),
                    predicate_key(["be"], part.prep),
                    value,
                    kind,
                    clause,
                )
                placed = replace(
                    claim,
                    holds="one" if not noun.pronoun or noun.text.lower() == "it" else "many",
                    key=PLACED if part.prep in PLACES else f"be|{part.prep}",
                    matter=what.lemma,
                )
                claims.append(self._as_home(self._past(placed, clause), clause, noun))
        return claims

    def _as_home(self, claim: Claim, clause: Clause, noun: Noun) -> Claim:
        """ "Dad is in the care home since May": where somebody lives, if that is known."""
        said = " ".join(n.text.lower() for p in clause.parts for n in p.nouns).split()
        lasts = claim.cue == "closes" or clause.now or clause.lasting or self._since(clause)
        if not lasts or _HOMES.isdisjoint(said) or self._is_who(noun, claim.subject) != "person":
            return claim
        return replace(claim, others=(*claim.others, "lives_in"), effect="begins")

    def _since(self, clause: Clause) -> bool:
        return any(self.days[i].role == "start" for i in clause.own if i in self.days)

    def _open(self, clause: Clause, name: str) -> list[Claim]:
        """Verb and object as they are said, where both are worth keeping."""
        verb = clause.verb.removeprefix("be ").split()[0] if clause.verb != "be" else "be"
        idle = words("idle_verbs.txt")
        moody = clause.word in words("mood_adjectives.txt") or (
            clause.verb.startswith("be ") and clause.lemma in idle
        )
        if moody or ((verb in idle or clause.verb in idle) and not self._is_expecting(clause)):
            return []
        part = self._main(clause, name)
        past = clause.tense in ("past", "perfect")
        if (part is None or (past and self._is_when(part))) and (happened := self._happened(clause, name)):
            return happened
        if part and clause.lemma == "do" and (part.prep or all(n.pronoun for n in part.nouns)):
            return []  # "he did it in an hour"
        found = []
        if part is None:
            return []
        for noun in part.nouns:
            value, kind = self._value(noun, part, name)
            if not value or value in (name, "back") or len(value.split()) > 9:
                continue
            key = predicate_key(clause.verb.split(), part.prep)
            if clause.lemma == "do":
                key = predicate_key([noun.lemma], part.prep)
            if clause.plan:
                key = f"{PLAN}{key}"
            said = f"{clause.reads} {part.prep}" if part.prep else self._to_whom(clause.reads, clause)
            claim = self._claim(name, said.strip(), key, value, kind, clause)
            once = past and not clause.verb.startswith("be ")
            claim = replace(claim, event=once, holds="many" if once or clause.plan else "", matter=noun.lemma,
                            key=f"{DID}{key}" if once else key)  # fmt: skip
            claim = replace(claim, replaces=self._given_up(clause, name))
            if (
                clause.lemma in _RESTING
                and part.prep in PLACES
                and clause.tense == "present"
                and not clause.plan
            ):
                claim = replace(claim, key=f"{clause.lemma}|where", holds="one")
            found.append(replace(claim, effect="ends", cue="ends") if clause.over else claim)
        further = self._further(clause, name, part) if found and not part.prep and not clause.over else []
        return further or found

    def _is_expecting(self, clause: Clause) -> bool:
        """ "They're expecting twins in May"."""
        things = {n.lemma for p in clause.parts if not p.prep for n in p.nouns}
        return clause.lemma == "expect" and not things.isdisjoint(_BORN)

    def _is_ago(self, part: Part, clause: Clause) -> bool:
        """ "last night", "yesterday": when it happened, and no value by itself."""
        said = [self.days[noun.at].text if noun.at in self.days else noun.text for noun in part.nouns]
        day = clause.tense not in ("past", "perfect") and any(HABIT.match(each) for each in said)
        return not part.prep and not day and not any(NUMBER.search(each) for each in said)

    def _is_when(self, part: Part) -> bool:
        """Whether a part says nothing but when: "on 4 August", "at 23:41"."""
        timed = part.nouns and _TIMED.fullmatch(part.nouns[0].text)
        return part.prep in ("", "on", "in", "at") and bool(part.dated or timed)

    def _happened(self, clause: Clause, name: str) -> list[Claim]:
        """ "Tram line 28 reopened", "the mill burnt down on Friday": what happened to something, without an object."""
        dated = bool(self._its_days(clause))
        happened = clause.tense in ("past", "perfect") or dated
        mine = name == self.talk.speaker or clause.dep not in ("ROOT", "conj", "parataxis", "ccomp")
        noted = self.tree.tokens[clause.at].tag == "VBN" and clause.tense == "past" and not dated
        begun = any(self.tree.tokens[c.at].head == clause.at and c.lemma in GONE_TO for c in self.clauses)
        if not happened or mine or noted or begun or clause.plan or clause.used or clause.word:
            return []
        brings = clause.lemma in ("have", "do", "be", "get", "make") or bool(
            self.tree.kids(clause.at, "ccomp")
        )
        if brings or not all(p.dated or self._is_when(p) for p in clause.parts):
            return []  # "it made me think" tells what came of it, and not that it made
        key = predicate_key(clause.verb.split(), "")
        gone = [self.tree.tokens[i] for i in (clause.at, *self.tree.kids(clause.at, "xcomp"))]
        reads = " ".join(t.low for t in gone) if clause.over else clause.reads  # "stopped running"
        if reads == gone[0].low and clause.lemma in words("becoming_verbs.txt"):
            reads = f"has {reads}"
        own = self.subject is not None and self.subject.text == name != self.talk.topic and name.islower()
        name = f"{self.talk.topic}'s {name}" if own and self.talk.topic else name  # "Well 4: flow stopped"
        claim = self._claim(name, "{S} {O}", f"{DID}{key}", reads, "text", clause)
        timed = [n.text for p in clause.parts if not p.dated for n in p.nouns]
        for span in self.said.dates(clause.tense) if timed and not dated else ():
            if any(time in span.text for time in timed):
                claim = replace(claim, valid_from=span.start, precision=span.precision)
        return [replace(claim, event=True, holds="many", matter=clause.lemma)]

    def _further(self, clause: Clause, name: str, main: Part) -> list[Claim]:
        """ "tracks bugs in Trello": where a name stands behind the object, that is a fact of its own."""
        found = []
        for part in clause.parts:
            company = part.prep == "with" and any(map(self._is_person, part.nouns))
            if (
                part.dated
                or part.prep not in _FURTHER
                or not (company or any(n.proper for n in part.nouns) or clause.lemma == "do")
                or HABIT.match(part.nouns[0].text)
            ):
                continue
            for noun in part.nouns[:1]:
                value, kind = self._value(noun, part, name)
                if value and value != name:
                    said = f"{clause.reads} {main.nouns[0].text} {part.prep}"
                    key = predicate_key([*clause.verb.split(), main.nouns[0].lemma], part.prep)
                    claim = self._claim(name, said, key, value, kind, clause)
                    once = clause.tense in ("past", "perfect")
                    found.append(replace(claim, event=once, holds="many" if once else "", matter=noun.lemma,
                                         key=f"{DID}{key}" if once else key))  # fmt: skip
        return found[:1]

    def _main(self, clause: Clause, name: str) -> Part | None:
        """The object, else what stands behind a preposition, else a date."""
        direct = [
            p
            for p in clause.parts
            if not p.prep and not self._is_when(p) and p.kind in ("object", "attribute", "activity")
        ]
        idle = any(p.kind == "object" and p.nouns for p in direct)  # "ordered the blue one in the end"
        idle = idle and not any(self._value(n, p, name)[0] for p in direct for n in p.nouns)
        order = (
            direct,
            [p for p in clause.parts if not p.prep and not p.dated and p.kind in ("measure", "place")],
            sorted(
                (p for p in clause.parts if p.prep and not p.dated and p.prep.split()[0] not in _LOOSE),
                key=lambda p: p.prep == "from",  # "moved from Dock Street to the square"
            ),
            [
                p
                for p in clause.parts
                if (p.dated or self._is_when(p))
                and p.prep not in ("since", "as of")
                and not self._is_ago(p, clause)
            ]
            if not clause.over
            else [],
        )
        worth = [p for parts in order for p in parts if p.nouns and self._value(p.nouns[0], p, name)[0]]
        if idle and worth and not any(n.proper or n.name or n.owner for n in worth[0].nouns):
            return None
        return worth[0] if worth else None


_TIMED = re.compile(r"\d{1,2}:\d\d(?: ?[ap]m)?")
_APART = re.compile(r"[^,]*, (?:no )?")
_KEEPING = frozenset("keep store stash hide".split())
_OPENING = frozenset({"ADV", "PUNCT", "INTJ", "CCONJ", "AUX", "PART"})
_WHENEVER = frozenset("since when while as until till before after".split())
_BETWEEN = {
    "get married": "to", "be married": "to", "get engaged": "to", "be engaged": "to", "split up": "with",
    "be together": "with", "part ways": "with", "break up": "with", "divorce": "", "separate": "from",
    "get divorced": "from", "be divorced": "from", "meet": "", "marry": "", "share": "with",
}  # fmt: skip
"""What two do with each other: "Milo and I split up"."""
_LINKING = frozenset("be become remain go turn stay".split())
_OWNING = frozenset("ownership responsibility control management charge leadership".split())
_PASSING = frozenset("go pass move fall transfer hand shift give".split())
_HANDED_ON = frozenset("assign reassign escalate refer discharge admit vaccinate prescribe".split())
"""Without a subject this was done to what a note speaks of."""
_GIVING_UP = frozenset({"quit", "stop", "give up", "pack in", "kick", "drop"})
_RESTING = frozenset("sleep sit stand hang lie park train practise practice rehearse gather".split())
"""What somebody or something does in one place at a time."""
_MAKING = frozenset("elect appoint name make vote become promote".split())
_BORN = frozenset("baby child twin twins triplet triplets kid boy girl".split())
_DROPPING = frozenset("drop cancel shelve scrap abandon postpone call reject".split())
_AWAY = frozenset({"from", "away", "planned"})
_MOVES = frozenset("move switch migration change transfer relocation upgrade plan swap handover".split())
_PARTING = frozenset("leave quit split part resign retire divorce separate".split())
_WEIGHING = frozenset("think consider contemplate plan want hope wish dream".split())
_CHOSEN = frozenset("favourite favorite preferred default usual current".split())
_ANYBODY = frozenset("you they people one everybody everyone somebody someone it".split())
_ANY = frozenset({"", "a", "an", "some", "any", "many", "few", "these", "those"})
_ABLE = frozenset({"speaks", "plays_instrument", "plays_sport", "drives", "has_skill"})
"""Families of what somebody can do."""
_FICTION = frozenset(
    "story poem novel scene joke song film dream game book play movie letter email post".split()
)
_HOMES = frozenset("home flat house apartment dorm bungalow cottage hostel".split())
_FURTHER = frozenset("at in for with on to from under".split())
_LOOSE = frozenset(
    "because like than about due thanks despite during according except instead without".split()
) | frozenset("since after before between".split())
