"""What a revision changed against the one before it, number by number."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.site.eval_json import HEADLINE, EvalDocument, MeasureEntry
from harness.site.views import MEANS, figure_of, percent_of, title_of
from harness.site.words import OUTCOMES, status_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A published number or status that is another one now, as pages print it."""

    what: str
    before: str
    after: str


def differences(before: EvalDocument, after: EvalDocument) -> tuple[Difference, ...]:
    """Statuses, outcomes, measures of the whole and headlines of groups that differ, in the order of the page."""
    return tuple(each for each in _compared(before, after) if each.before != each.after)


def _compared(before: EvalDocument, after: EvalDocument) -> Iterator[Difference]:
    yield Difference(what="Status", before=status_words(before.status).word, after=status_words(after.status).word)
    held = {floor.measure: floor for floor in before.floors}
    for floor in after.floors:
        old = held.get(floor.measure)
        yield Difference(
            what=f"{title_of(floor.measure)}, floor {percent_of(floor.floor)} %",
            before="not assessed" if old is None else status_words(old.status).word,
            after=status_words(floor.status).word,
        )
    for name, word, _ in OUTCOMES:
        old_count, new_count = getattr(before.outcomes, name), getattr(after.outcomes, name)
        yield Difference(what=f"Expectations: {word.lower()}", before=str(old_count), after=str(new_count))
    for entry in after.measures:
        if entry.stratum is None or entry.name == HEADLINE:
            group = "" if entry.stratum is None else f", {entry.stratum.replace('=', ' ', 1)}"
            yield Difference(
                what=f"{title_of(entry.name)}{group}",
                before=_told(before.measure(entry.name, entry.stratum)),
                after=_told(entry),
            )


def _told(entry: MeasureEntry | None) -> str:
    """Counts and value as the page has them."""
    if entry is None:
        return "not published"
    figure = figure_of((), entry)
    if figure.value is None:
        return "no data"
    value = f"{figure.value} {figure.sign}".rstrip()
    return value if entry.name in MEANS else f"{figure.good}/{figure.valid}, {value}"
