"""What each measure is, in one table (scoring.md, Measures): pages, command help and documentation come from it.

A measure is added by adding a row, and the count of its good and valid in measures.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from harness.citation.model import FIELDS
from harness.scoring.checks import RELEVANCE_FIELDS
from harness.scoring.passages import CATALOGUE_FIELDS, CONSISTENCY_FIELDS, EDITION_FIELDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a measure is. `needs`: contracted fields without which it is not published; `needs_one_of`: one suffices.

    `floors`: a contract's floor may name it (count measures over expectations).
    """

    name: str
    title: str
    says: str
    unit: Literal["expectation", "passage", "item"]
    needs: tuple[str, ...] = ()
    needs_one_of: tuple[str, ...] = ()
    floors: bool = False

    def published(self, checks: Iterable[str]) -> bool:
        """Whether the contract carries the fields that this measure needs."""
        contracted = set(checks)
        return contracted.issuperset(self.needs) and (
            not self.needs_one_of or not contracted.isdisjoint(self.needs_one_of)
        )


_OTHER_FIELDS: Final = tuple(name for name in FIELDS if name != "citation")

DESCRIPTIONS: Final = (
    Description(
        name="citation_correctness",
        title="exact citation within the first k passages",
        says="Expectations whose aligned passage equals the gold citation in every contracted field and in the string.",
        unit="expectation",
        floors=True,
    ),
    Description(
        name="correctness_when_retrieved",
        title="exact citation where the section was retrieved",
        says="The same, over expectations of which a passage among the first k names the right society, standard, "
        "edition and section path; a call without a usable answer stays in the base, so that an outage never raises "
        "the share.",
        unit="expectation",
        needs=RELEVANCE_FIELDS,
        floors=True,
    ),
    Description(
        name="string_correctness",
        title="citation string",
        says="Expectations whose aligned passage carries the gold citation string, code point for code point.",
        unit="expectation",
        needs=("citation",),
        floors=True,
    ),
    Description(
        name="field_correctness",
        title="structured fields",
        says="Expectations whose aligned passage equals the gold in every contracted field beside the string.",
        unit="expectation",
        needs_one_of=_OTHER_FIELDS,
        floors=True,
    ),
    *(
        Description(
            name=f"{name}_correctness",
            title=f"field {name}",
            says=f"Expectations whose aligned passage carries the gold {name}, equal in value and type.",
            unit="expectation",
            needs=(name,),
            floors=True,
        )
        for name in _OTHER_FIELDS
    ),
    Description(
        name="weighted_citation_correctness",
        title="exact citation, weighted",
        says="The weight of correct expectations over the weight of all valid ones; only where item weights differ.",
        unit="expectation",
    ),
    Description(
        name="edition_compliance",
        title="contracted edition",
        says="Returned passages, also beyond the first k, of this society and of an edition that is contracted for "
        "their standard, or asked for in a cross-edition item.",
        unit="passage",
        needs=EDITION_FIELDS,
    ),
    Description(
        name="passage_consistency",
        title="string agrees with fields",
        says="Returned passages whose string is the society's style applied to their own fields, and whose section "
        "path is the parse of their section.",
        unit="passage",
        needs=CONSISTENCY_FIELDS,
    ),
    Description(
        name="catalogue_membership",
        title="section exists",
        says="Returned passages whose standard, edition and section are in the society's catalogue; only where that is "
        "complete.",
        unit="passage",
        needs=CATALOGUE_FIELDS,
    ),
    Description(
        name="recall_at_k",
        title="recall in the first k passages",
        says="Mean over items of the share of expectations with a relevant passage among the first k; no usable answer "
        "counts as 0.",
        unit="item",
        needs=RELEVANCE_FIELDS,
    ),
    Description(
        name="mrr",
        title="mean reciprocal rank",
        says="Mean over items of one over the rank of the first relevant passage among the first k, 0 without one.",
        unit="item",
        needs=RELEVANCE_FIELDS,
    ),
    Description(
        name="answered",
        title="answered",
        says="Items that came back with a usable answer, also one without passages.",
        unit="item",
    ),
)
"""Every measure, in the order it is published."""
