"""Who is whose what, as nouns alone say it, without any verb: a sentence's roles and appositions.

"My sister Rosa", "two dogs, Rex and Luna", "my accountant, Ms Bloch", "Samir, a beekeeper", "first day at Siemens"
"""

from __future__ import annotations

from msgspec.structs import replace

from worldline.lexicon import words
from worldline.reading.claim import Claim
from worldline.reading.clauses import Clause
from worldline.reading.terse import Terse
from worldline.reading.tree import IDLE_MODIFIERS, Noun
from worldline.reading.voices import is_somebody
from worldline.reading.whom import FRESH, NUMBER, THEY

STRETCHES = frozenset("day week night shift month morning term semester".split())
_STATIONS = {
    ("", "at"): "works_at", ("", "with"): "works_at", ("", "as"): "works_as", ("night", "in"): "lives_in",
    ("night", "at"): "lives_in",
}  # fmt: skip
"""What a first day somewhere begins, by the word and the preposition."""
_SCHOOLS = ("attends_school", "studies_at")


class Roles(Terse):
    """The part of a sentence's reader that knows roles, and keeps what is claimed."""

    def _roles(self) -> None:
        """ "my sister Rosa", "uncle Sandro", "Priya, our new designer", "Birte, a trained pilot"."""
        for at, token in enumerate(self.tree.tokens):
            if (
                token.tag in ("NN", "NNP", "NNS")
                and (token.low in words("person_roles.txt") or self._one_of(at) in words("person_roles.txt"))
                and not self.tree.is_title(at)
            ):
                self._role_at(at)
        for at, token in enumerate(self.tree.tokens):
            if token.pos in ("NOUN", "PROPN") and at not in self.days:
                self._apposition(at, self.tree.noun(at, self.days))

    def _first_days(self) -> None:
        """ "First day at Verlaine Optics", "Arne's last week as tech lead", "first night in the new house"."""
        for at, token in enumerate(self.tree.tokens):
            which = {self.tree.tokens[i].low for i in self.tree.kids(at, "amod")} & {"first", "last"}
            if token.low not in STRETCHES or len(which) != 1:
                continue
            noun = self.tree.noun(at, self.days)
            who = self._owner(noun.owner) if noun.owner else self.talk.speaker
            for i in self.tree.kids(at, "prep"):
                inner, prep = self.tree.kid(i, "pobj"), self.tree.tokens[i].low
                name = _STATIONS.get((token.low, prep)) or _STATIONS.get(("", prep))
                if inner is None or inner in self.days or name is None or not who:
                    continue
                where = self.tree.noun(inner, self.days)
                family = self.families.all[name]
                if family.object == "organisation" and not where.proper:
                    continue
                value, kind = self._value(where, None, who, family)
                claim = replace(
                    self._claim(who, family.reads, family.name, value, kind, None), family=family.name,
                    effect="begins" if "first" in which else "ends", cue="" if "first" in which else "ends",
                    holds=family.holds, matter=where.lemma, others=_SCHOOLS if name == "works_at" else (),
                )  # fmt: skip
                span = next(iter(self.days.values()), None)
                if span is not None and value:
                    claim = replace(claim, valid_from=span.start, precision=span.precision, begins=True)
                self._keep(claim if value else None, noun)

    def _role_at(self, at: int) -> None:
        """A role right in front of a name or of several: "my two dogs, Rex and Luna" are two."""
        names = self._names_behind(at)
        if not names:
            return
        self._note_names(at)
        start = at
        while (
            start > 0
            and self.tree.tokens[start - 1].tag in ("JJ", "NN", "CD")
            and self.tree.tokens[start - 1].end < self.tree.tokens[start].begin
        ):
            start -= 1
        before = self.tree.tokens[start - 1] if start else None
        owner = ""
        if before is not None and before.tag == "PRP$":
            owner = self.recent if before.low in THEY and self.recent else self._pronoun(before.low)
            if not owner:
                return
        elif before is not None and before.tag == "POS" and start > 1:
            owner = self._owner(self.tree.said(self.tree.under(start - 2, ("case",))))
        else:
            kin = self.tree.tokens[at].low in words("kin.txt") and is_somebody(self.talk.speaker)
            mine = self.talk.speaker if kin else ""
            owner = self._had_by(at) or self.talk.topic or mine
        said = [i for i in range(start, at) if self.tree.tokens[i].low not in IDLE_MODIFIERS
                and self.tree.tokens[i].tag != "CD"]  # fmt: skip
        role = f"{self.tree.said(said)} {self._one_of(at)}".strip()
        if before is None or before.tag not in ("PRP$", "POS"):
            names = (
                names if self._one_of(at) not in words("animals.txt") else []
            )  # "own two horses, Rex and Ace"
        for name in names:
            noun = self.tree.noun(at, self.days)
            self._role(
                owner,
                role,
                name,
                replace(noun, chars=(noun.chars[0], self._end_of(name, noun))),
            )

    def _one_of(self, at: int) -> str:
        """The noun of each of several: "brothers" → "brother"."""
        token = self.tree.tokens[at]
        return token.lemma.lower() if token.tag == "NNS" else token.text

    def _had_by(self, at: int) -> str:
        """ "Pia has two sons, Max and Leo": whose they are."""
        while self.tree.tokens[at].dep == "conj":
            at = self.tree.tokens[at].head
        verb = self.tree.tokens[at].head
        who = self.tree.kid(verb, "nsubj") if self.tree.tokens[verb].lemma in ("have", "get", "own") else None
        return self.whom(self.tree.noun(who, self.days)) if who is not None else ""

    def _end_of(self, name: str, noun: Noun) -> int:
        """Where a name that stands behind a role ends."""
        found = self.tree.text.find(name, noun.chars[0] - self._offset)
        return noun.chars[1] if found < 0 else self._offset + found + len(name)

    def _names_behind(self, at: int) -> list[str]:
        tokens, place = self.tree.tokens, at + 1
        if place < len(tokens) and tokens[place].text == "," and place + 1 < len(tokens):
            closed = any(t.text == "," for t in tokens[place + 1 : place + 5])
            place += 1 if closed or tokens[at].tag == "NNS" else 0
        found: list[str] = []
        run: list[int] = []
        while place < len(tokens):
            token = tokens[place]
            if (
                token.tag in ("NNP", "NNPS")
                and token.text[:1].isupper()
                and token.low not in words("person_roles.txt")
            ):
                run.append(place)
            elif found and not run and token.text in (",", "and"):
                pass
            elif run:
                found.append(self.tree.said(run))
                run = []
                if token.text not in ("and", ",") or tokens[at].tag != "NNS":
                    break
            else:
                break
            place += 1
        return [*found, self.tree.said(run)] if run else found

    def _apposition(self, at: int, noun: Noun) -> None:
        """ "my accountant, Ms Bloch", "my brother Samir, a beekeeper", "Priya, our new designer"."""
        name = noun.text if noun.proper else noun.name
        if name and not noun.proper and noun.owner and not self._names_behind(at):
            self._role(self._owner(noun.owner), self.tree.short(noun).text, name, noun)
        for i in self.tree.kids(at, "appos"):
            other = self.tree.noun(i, self.days)
            if (
                not name
                or self.tree.called(i)
                or other.proper
                or other.pronoun
                or self.tree.tokens[i].pos not in ("NOUN", "NUM")
            ):
                continue
            if (age := self._aged(name, other)) is not None:
                self._keep(age, noun)
            if i in self.days or NUMBER.search(other.text):
                continue
            owner = self._owner(other.owner)
            if other.owner and owner:
                self._role(owner, self.tree.short(other).text, name, other)
            elif not other.owner and (
                other.indefinite or other.of or other.lemma in words("person_roles.txt")
            ):
                self._is_a(noun, name, other)

    def _is_a(self, noun: Noun, subject: str, what: Noun) -> None:
        self._keep(self._attribute(subject, what, "is"), noun)

    def _role(self, owner: str, role: str, name: str, noun: Noun) -> None:
        """The owner's ROLE is NAME."""
        role = FRESH.sub("", role)
        if not owner or owner == name or not role:
            return
        self.talk.named[f"{owner}|{role.split()[-1]}"] = self.recent = name
        self._keep(self._noun_claim(owner, role, name, "entity"), noun)

    def _keep(self, claim: Claim | None, noun: Noun | None, clause: Clause | None = None) -> None:
        if claim is None or not claim.subject or (not claim.object and claim.effect != "ends"):
            return
        chars = self._chars(clause, noun)
        claim = replace(claim, chars=chars)
        if clause is not None:
            claim = self._dated(claim, clause)
        known = {(c.subject, c.key, c.object.lower(), c.effect) for c in self.found}
        if (claim.subject, claim.key, claim.object.lower(), claim.effect) not in known:
            self.found.append(claim)

    def _chars(self, clause: Clause | None, noun: Noun | None) -> tuple[int, int]:
        shift = self.said.begin
        if clause is not None:
            return (
                shift + min(self.tree.tokens[i].begin for i in clause.own),
                shift + max(self.tree.tokens[i].end for i in clause.own),
            )
        assert noun is not None
        return shift + noun.chars[0], shift + noun.chars[1]
