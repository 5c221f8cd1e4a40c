"""When a claim holds: which of a sentence's dates are its own, and what they say of it.

"We got a dog yesterday, her name is Comet": the day is that of the getting
"""

from __future__ import annotations

from msgspec.structs import replace

from worldline.dates import DateSpan, find_dates
from worldline.reading.claim import Claim
from worldline.reading.clauses import Clause
from worldline.reading.whom import Whom


class Days(Whom):
    """The part of a sentence's reader that knows its dates."""

    def _dated(self, claim: Claim, clause: Clause) -> Claim:
        """The date that the clause states, as the start or the end of what it says."""
        own = {self.days[i].chars for i in self._its_days(clause)}
        ahead = any(
            p.dated and p.prep in ("for", "to", "until", "till", "by", "before") for p in clause.parts
        )
        tense = "future" if clause.plan else "" if ahead else clause.tense
        for span in self.said.dates(tense) if own else ():
            other = claim.kind == "date" and len(own) > 1 and claim.object not in span.text
            if span.chars not in own or other:
                continue
            if span.role == "end":
                claim = replace(claim, valid_to=span.end if claim.valid_to is None else claim.valid_to)
            elif claim.valid_from is None:
                now = span.role == "start" and clause.tense == "present" and not claim.cue
                claim = replace(
                    claim, valid_from=self._first(span, clause), precision=span.precision,
                    begins=span.role == "start", cue="closes" if now else claim.cue,
                )  # fmt: skip
                if span.role == "range" and claim.switches:
                    last = (
                        find_dates(span.text.rpartition(" to ")[2], self.said.said_at)
                        if self.said.said_at
                        else []
                    )
                    claim = replace(claim, valid_from=last[0].start if last else span.start)
                elif span.role == "range":
                    claim = replace(claim, valid_to=span.end)
        return claim if own or claim.valid_from is not None else self._lasted(claim, clause)

    def _its_days(self, clause: Clause) -> list[int]:
        """The places of the dates of a clause; one in front of a comma belongs to what stands before it.

        "We got a dog yesterday, her name is Comet": the parser hangs the day on the naming.
        """
        named = [c for c in self.clauses if c.dep == "acl" and c.lemma in ("call", "name")]
        inner = [c for c in named if self.tree.tokens[c.at].head in clause.own]
        own = clause.own.union(*(c.own for c in inner)) if clause not in named else frozenset()
        ended = {i for i in self.days if self._is_ended_by_comma(i)}
        before = {i for i in ended if any(k in own and k not in self.days for k in (self._in_front(i),))}
        return [i for i in self.days if (i in own and i not in ended) or i in before]

    def _in_front(self, at: int) -> int:
        """The last word in front of a date, without its preposition."""
        while at > 0 and (at in self.days or self.tree.tokens[at].dep in ("prep", "det", "punct")):
            at -= 1
        return at

    def _is_ended_by_comma(self, at: int) -> bool:
        """Whether a comma stands right behind a date, and none in front of it."""
        end = at
        while end in self.days:
            end += 1
        front = self._in_front(at)
        between = self.tree.tokens[front + 1 : at]
        closed = end < len(self.tree.tokens) and self.tree.tokens[end].text == ","
        return closed and front not in self.days and not any(t.text == "," for t in between)

    def _first(self, span: DateSpan, clause: Clause) -> int:
        """When a stretch begins: what is so "on Friday" is ahead, and "two weeks ago" is that very day."""
        said_at = self.said.said_at
        if said_at is None or span.role:
            return span.start
        now = int(said_at.timestamp() * 1_000_000)
        later = next((s for s in self.said.dates("future") if s.chars == span.chars), span).start
        if clause.tense == "past" and any(p.dated and p.prep == "from" for p in clause.parts):
            return min(span.start, later, key=lambda at: abs(at - now))  # "raised the rent from May"
        if span.precision == "week" and span.text.endswith("ago"):
            return span.start + said_at.weekday() * DAY
        present = clause.tense == "present" and self.tree.tokens[clause.at].tag != "VBD"
        ahead = span.precision == "day" or (span.precision == "month" and clause.lemma in _COMING)
        return later if present and ahead and span.end <= now else span.start

    def _lasted(self, claim: Claim, clause: Clause) -> Claim:
        """ "We have lived here for twelve years": since then."""
        if not clause.lasted or self.said.said_at is None:
            return claim
        span = next(iter(find_dates(f"{clause.lasted} ago", self.said.said_at)), None)
        if span is None:
            return claim
        return replace(claim, valid_from=span.start, precision=span.precision, begins=True)


DAY = 86_400_000_000
_COMING = frozenset(
    "open start begin close end move leave arrive come go return fly retire finish join launch".split()
)
"""What is told in the present of a month is still to come."""
