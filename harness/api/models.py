"""The wire forms as OpenAPI describes them. Answers are written from the ledger's own text, never from these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt

Percent = Annotated[str, Field(pattern=r"^[0-9]{1,3}(\.[0-9]+)?$", examples=["10", "12.5"])]
Ratio = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]{6,}$", examples=["0.949999"])]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-12-01T00:00:00Z"])]
Count = Annotated[int, Field(ge=0)]


class SocietyOut(BaseModel):
    id: str
    slug: str


class Objective(BaseModel):
    measure: str
    floor: str
    rule: Literal["point", "exact_binomial_95"]


class WindowOut(BaseModel):
    kind: Literal["night", "calendar_month"]
    label: str
    start: Moment
    end: Moment


class IntervalOut(BaseModel):
    method: str
    confidence: str
    low: Ratio
    high: Ratio


class Measured(BaseModel):
    """Without a valid expectation there is no ratio and no interval."""

    good: Count
    valid: Count
    ratio: Ratio | None = None
    interval: IntervalOut | None = None


class OutcomesOut(BaseModel):
    planned: Count
    correct: Count
    incorrect: Count
    missing: Count
    gateway_error: Count
    harness_error: Count


class CoverageOut(BaseModel):
    nights_expected: Count
    nights_measured: Count
    nights_missed: list[str]


class TierOut(BaseModel):
    below: str
    at_least: str
    credit_percent: Percent


class DisputeOut(BaseModel):
    """When the dispute clock runs, and by when a dispute that is going on must be decided."""

    opens: Moment
    closes: Moment
    decide_by: Moment | None = None


class EvidenceOut(BaseModel):
    """Where the numbers can be seen and derived again; of a window that nothing ran in the versions only."""

    page_url: str | None
    scores_url: str | None
    scores_sha256: Sha256 | None
    testset_version: str | None
    testset_sha256: Sha256 | None
    scorer_version: int
    harness_version: str
    run_id: str | None


class SettlementOut(BaseModel):
    """A settlement as it stands, or as an event states it."""

    subject: str
    revision: Annotated[int, Field(ge=1)]
    state: Literal["open", "disputed", "final"]
    status: Literal["met", "breached", "insufficient_data", "not_run"]
    society: SocietyOut
    terms_version: int
    terms_sha256: Sha256
    objective: Objective
    window: WindowOut
    measured: Measured
    outcomes: OutcomesOut
    coverage: CoverageOut
    target_percent: Percent
    assessed_percent: Percent = "0"
    billable_percent: Percent
    tier: TierOut | None
    reason: str | None
    dispute: DisputeOut
    finalized_at: Moment | None
    evidence: EvidenceOut
    warnings: list[str]
    claim: dict[str, Any] | None


class EventOut(BaseModel):
    """A CloudEvent 1.0 of the ledger."""

    specversion: Literal["1.0"]
    id: str
    source: str
    type: str
    subject: str
    time: Moment
    recordedtime: Moment
    sequence: Annotated[str, Field(pattern=r"^[0-9]{20}$")]
    datacontenttype: Literal["application/json"]
    data: SettlementOut


class SettlementsOut(BaseModel):
    """A page of settlements by subject; `next` is the `after` of the page behind it, null at the end."""

    settlements: list[SettlementOut]
    next: str | None


class AcknowledgementIn(BaseModel):
    """What billing did: on which revision it acted, and where."""

    model_config = ConfigDict(extra="forbid")

    revision: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
    invoice_ref: Annotated[str, Field(pattern=r"^[!-~]([ -~]{0,198}[!-~])?$", examples=["2026-12-0017"])]


class AcknowledgementOut(BaseModel):
    subject: str
    revision: int
    invoice_ref: str
    recorded_at: Moment


class SettlementHistoryOut(BaseModel):
    settlement: SettlementOut
    events: list[EventOut]
    acknowledgements: list[AcknowledgementOut]


class PeriodWindowOut(BaseModel):
    """A window; of its settlements the highest billable percent counts."""

    label: str
    kind: Literal["night", "calendar_month"]
    start: Moment
    end: Moment
    billable_percent: Percent
    settled: bool
    settlements: list[SettlementOut]


class PeriodSocietyOut(BaseModel):
    id: str
    slug: str
    complete: bool
    settled: bool
    missing: list[str]
    windows: list[PeriodWindowOut]


class PeriodOut(BaseModel):
    """`complete`: every window is evaluated; `settled`: and all are final."""

    month: str
    complete: bool
    settled: bool
    societies: list[PeriodSocietyOut]


class HealthOut(BaseModel):
    status: Literal["ok"]
