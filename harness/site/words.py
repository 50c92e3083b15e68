"""The words that pages use for what the data names: statuses, rules, methods, outcomes, faults. One row each."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from harness.site.text import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusWords:
    """A status in words; `shape` names the figure drawn beside them, so that colour is never alone."""

    word: str
    shape: str
    says: str


STATUSES: Final = {
    "met": StatusWords(word="Met", shape="disc", says="Every contractual floor was met."),
    "breached": StatusWords(word="Below floor", shape="triangle", says="At least one contractual floor was not met."),
    "insufficient_data": StatusWords(
        word="Insufficient data", shape="half", says="Too little could be measured to decide the floor."
    ),
    "not_run": StatusWords(word="Not run", shape="ring", says="No call was sent for this night."),
    "no_floor": StatusWords(
        word="No floor", shape="bar", says="Measured and published; no contractual floor is in force."
    ),
}

CHANGES: Final = {
    "testset": ("T", "test set changed"),
    "scorer": ("S", "scorer changed"),
    "terms": ("C", "contract terms changed"),
}
"""What may differ between two nights, with the letter that marks it in a trend."""

REASONS: Final = {
    "gold_corrected": "the gold set was corrected",
    "scorer_corrected": "the scorer was corrected",
    "harness_fault": "a fault of the harness was mended",
    "night_resumed": "the night was completed by a later run",
}
"""Why a revision came after another."""

RULES: Final = {
    "point": "below if good / valid is strictly less than the floor",
    "exact_binomial_95": "below if so few good were less than 5 % likely at the floor (exact binomial)",
}

METHODS: Final = {
    "wilson": "Wilson",
    "wilson_cluster": "Wilson, cluster-adjusted",
    "wilson_kish": "Wilson at Kish’s effective n",
}

OUTCOMES: Final = (
    ("correct", "Correct", "every contracted check is true"),
    ("incorrect", "Incorrect", "a passage was aligned, and some check is false"),
    ("missing", "Missing", "fewer passages came back than were expected"),
    ("gateway_error", "Gateway error", "a call was sent and nothing usable came back; counts as not correct"),
    ("harness_error", "Harness error", "not asked, or our own failure; outside every base"),
)

GATEWAY_FAULTS: Final = {
    "timeout": "no answer in time",
    "connect": "connection refused or failed",
    "dns": "name not resolved",
    "tls": "TLS failed",
    "disconnected": "connection dropped",
    "unauthorized": "401, key not accepted",
    "forbidden": "403, access refused",
    "http_4xx": "another 4xx answer",
    "http_5xx": "5xx answer",
    "redirected": "redirected elsewhere",
    "rate_limited": "429 to the last attempt",
    "not_json": "body is not JSON",
    "bad_shape": "JSON of another shape",
    "too_large": "body above the size limit",
    "tool_error": "tool reported an error",
    "task_failed": "task failed",
    "never_asked": "not asked before the night ended",
}

CITATION_FAULTS: Final = {
    "absent": "no string",
    "not_a_string": "not a string",
    "whitespace": "equal but for white space",
    "lookalike": "equal but for look-alike or invisible characters",
    "case": "equal but for upper and lower case",
    "brackets": "equal but for the brackets",
    "style": "another style’s form of the same fields",
    "edition": "another edition",
    "society": "another society",
    "standard": "another standard",
    "section:ancestor": "a section that contains the right one",
    "section:descendant": "a part of the right section",
    "section:sibling": "a neighbour of the right section",
    "section:other": "another section",
    "unparseable": "not a citation of any known form",
    "type": "a field of another type",
    "value": "a field of another value",
    "edition_not_contracted": "passage of an edition that is not contracted",
    "string_disagrees_with_fields": "string and fields of a passage disagree",
    "not_in_catalogue": "a section that does not exist",
    "unescaped_markup": "markup in the citation",
}


def status_words(status: str) -> StatusWords:
    """The words of a status; one that a later release added is shown by its name."""
    return STATUSES.get(status) or StatusWords(word=visible(status), shape="bar", says="")


def day_text(night: str) -> str:
    """A night as people write it: `29 November 2026`; a month: `November 2026`."""
    if len(night) == len("2026-11"):
        first = date.fromisoformat(f"{night}-01")
        return f"{_MONTHS[first.month - 1]} {first.year}"
    day = date.fromisoformat(night)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def lost_text(incorrect: int, missing: int, gateway_error: int, harness_error: int) -> str:
    """What kept expectations from being correct, in one sentence; empty where nothing did."""
    told = (
        (incorrect, "with a wrong citation"),
        (missing, "without a passage"),
        (gateway_error, "without a usable answer (an outage counts as not correct)"),
    )
    causes = [f"{count} {cause}" for count, cause in told if count]
    sentence = f"Not correct: {', '.join(causes)}." if causes else ""
    outside = f"{harness_error} not measured by our own failure, outside the base." if harness_error else ""
    return " ".join(part for part in (sentence, outside) if part)


_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)  # strftime would print them in the machine's language
