"""The one frozen result that a society's pages and twins are rendered from (publishing.md)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from harness.citation.model import Citation
from harness.scoring.model import ItemScore, Measure, Outcomes
from harness.sla.model import Assessment, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """An item's score with what was measured around its call; ids are the keyed hashes that may be published.

    `latency_ms` None: no call was sent. `cluster` is a keyed hash or None.
    """

    item_hash: str
    cluster_hash: str | None
    score: ItemScore
    latency_ms: int | None
    attempts: int
    tokens_returned: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    asked: int
    retried: int
    billed: int
    tokens_returned: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds over answered calls, nearest-rank percentiles; None where nothing was answered."""

    p50: int | None
    p95: int | None
    max: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """The last official night before this one, compared on the same item ids; mcnemar_p as a decimal string."""

    night: str
    value: str
    better: int
    worse: int
    compared: int
    mcnemar_p: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult:
    """Everything that is published of one society, night and revision, and nothing held out.

    `rows` may be called again and again: each call streams the items in the tables' fixed order (by item hash).
    A month's result pools its nights: `night` is then its label, `2026-11`.
    `reason` says why a revision came after another, None for a first. Times are UTC text. `gateway_faults` counts by
    reason, `citation_faults` by diagnosis shape. `examples` are public examples of the style, strictly parsed. `demo`
    marks sample output.
    """

    society: str
    slug: str
    name: str
    style_format: str
    examples: tuple[Citation, ...]
    night: str
    revision: int
    reason: str | None
    scored_at: str
    official: bool
    status: Status
    assessments: tuple[Assessment, ...]
    window: str
    measures: tuple[Measure, ...]
    outcomes: Outcomes
    checks: tuple[str, ...]
    top_k: int
    gateway_faults: Mapping[str, int]
    citation_faults: Mapping[str, int]
    latency: Latency
    calls: Calls
    testset_version: str
    testset_sha256: str
    terms_version: int | None
    items: int
    clusters: int
    editions: Mapping[str, tuple[int, ...]]
    scorer_version: int
    harness_version: str
    transport: str
    gateway_version: str
    run_id: str
    started_at: str
    finished_at: str
    first_answer_at: str | None
    last_answer_at: str | None
    previous: Previous | None
    warnings: tuple[str, ...]
    contact: str
    demo: bool
    rows: Callable[[], Iterator[ItemRow]] = field(repr=False)

    @property
    def pooled(self) -> bool:
        """Whether this is a month of nights, not one night."""
        return len(self.night) == len("2026-11")
