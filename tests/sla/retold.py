"""A settlement's life told again in plain numbers, from the sentences of sla.md: the second computation beside the
events. Percents are Fractions, moments datetimes; nothing here reads what the first computation wrote."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction


class Refused(Exception):
    """What sla.md does not allow in that state."""


@dataclass(kw_only=True)
class Life:
    """One settlement; `told` are the kinds of its events so far, `assessed` the target that an assessment told last."""

    days: int
    state: str = ""
    status: str = ""
    target: Fraction = Fraction(0)
    assessed: Fraction = Fraction(0)
    billable: Fraction = Fraction(0)
    closes: datetime | None = None
    decide_by: datetime | None = None
    finalized: datetime | None = None
    told: list[str] = field(default_factory=list)

    def due(self, now: datetime) -> datetime:
        """When that many days after `now` have passed, in whole seconds: the first one not before it."""
        end = now + timedelta(days=self.days)
        early = end.replace(microsecond=0)
        return early if self.days == 0 or early == end else early + timedelta(seconds=1)

    def assess(self, status: str, percent: Fraction, now: datetime) -> None:
        """Every floor and window has one settlement; an event only when status, state or target changes, or what an
        undecided dispute would end with."""
        if not self.state:
            self.state, self.status, self.target, self.assessed = "open", status, percent, percent
            self.closes = self.due(now)
            self.told.append("evaluated")
        else:
            self.pass_time(now)
            if not self._hears(status, percent):
                return
            rises = percent > self.target
            same = status == self.status and max(percent, self.billable) == self.target
            self.status, self.assessed = status, percent
            self.told.append("revised")
            if self.state == "final" and not rises:
                return
            self.state = "disputed" if self.state == "disputed" else "open"
            self.target = max(percent, self.billable)
            if not same:
                self.closes = self.due(now)
        self.pass_time(now)

    def _hears(self, status: str, percent: Fraction) -> bool:
        if status != self.status:
            return True
        if self.state == "final":
            return percent > self.target and percent != self.assessed
        return max(percent, self.billable) != max(self.assessed, self.billable)

    def pass_time(self, now: datetime) -> None:
        """An undecided dispute ends with the assessed target; an open settlement is final when its days are over."""
        if self.state == "disputed" and self.decide_by is not None and now >= self.decide_by:
            self.state, self.target, self.decide_by = "open", max(self.assessed, self.billable), None
            self.told.append("resolved")
        if self.state == "open" and self.closes is not None and now >= self.closes:
            self.state, self.billable, self.finalized = "final", self.target, now
            self.told.append("finalized")

    def dispute(self, now: datetime) -> None:
        self._must_be("open", now)
        self.state, self.decide_by = "disputed", self.due(now)
        self._tell("disputed", now)

    def uphold(self, percent: Fraction, now: datetime) -> None:
        self._must_be("disputed", now)
        if percent < self.billable:
            raise Refused
        self.state, self.target, self.closes, self.decide_by = "open", percent, self.due(now), None
        self._tell("resolved", now)

    def reject(self, now: datetime) -> None:
        self._must_be("disputed", now)
        self.state, self.decide_by = "open", None
        self._tell("resolved", now)

    def void(self, now: datetime) -> None:
        self._must_be("open", now)
        if self.target == self.billable:
            raise Refused
        self.target, self.closes = self.billable, self.due(now)
        self._tell("revised", now)

    def _must_be(self, state: str, now: datetime) -> None:
        self.pass_time(now)
        if self.state != state:
            raise Refused

    def _tell(self, kind: str, now: datetime) -> None:
        self.told.append(kind)
        self.pass_time(now)
