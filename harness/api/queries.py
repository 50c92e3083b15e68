"""What may be asked of the settlement API: the names and forms of a query, and the settlements that one chooses."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.store.ledger import Ledger, Query, Stand

MOST: Final = 1_000
"""Rows or events of one answer."""

MONTH: Final = r"^[12][0-9]{3}-(0[1-9]|1[0-2])$"


class Filters(BaseModel):
    """Which settlements; without any, all of them."""

    model_config = ConfigDict(extra="forbid")

    finalized_in: Annotated[str | None, Field(pattern=MONTH, examples=["2026-11"])] = None
    window_in: Annotated[str | None, Field(pattern=MONTH, examples=["2026-11"])] = None
    state: Literal["open", "disputed", "final"] | None = None
    society: Annotated[str | None, Field(pattern=r"^[a-z0-9-]{1,64}$", description="A society's slug.")] = None
    min_target: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9]{1,3}(\.[0-9]{1,18})?$", description="Targets of at least this percent.", examples=["10"]
        ),
    ] = None

    def stands(self, ledger: Ledger, after: str, limit: int) -> list[Stand]:
        """The first settlements behind the subject `after`, all of which the journal has."""
        query = Query(slug=self.society, month=self.window_in, finalized_in=self.finalized_in, state=self.state)
        least = Fraction(self.min_target or 0)
        found = ledger.settlements(query, after=after)
        page = list(islice((stand for stand in found if Fraction(stand.settlement.target_percent) >= least), limit))
        del found  # and with it the connection that it read from
        ledger.journalled()
        return page

    def pages(self, ledger: Ledger) -> Iterator[list[Stand]]:
        """All of them, page by page: a slow reader holds no connection, and no more than a page in memory."""
        page = self.stands(ledger, "", MOST)
        while page:
            yield page
            page = self.stands(ledger, page[-1].event.subject, MOST) if len(page) == MOST else []


class Page(Filters):
    """A page of them by subject."""

    after: Annotated[str, Field(pattern=r"^[ -~]{0,200}$", description="The `next` of the page before.")] = ""
    limit: Annotated[int, Field(ge=1, le=MOST, description="How many at most.")] = 100


class Cursor(BaseModel):
    """A place in the feed. Any other name is refused: a cursor misspelt must not read from the beginning."""

    model_config = ConfigDict(extra="forbid")

    after: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9]{1,20}$",
            description="The sequence of the last event that you have kept; without it, from the beginning.",
            examples=["00000000000000000042"],
        ),
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST, description="How many at most.")] = 100
