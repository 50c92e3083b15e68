"""Terms are frozen by their first use and kept as they were, with the nights of their first and last use."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from harness.errors import StoreError
from harness.store.engine import open_engine
from harness.store.terms import TermsUse, renew_terms, use_terms, used_terms
from harness.testset.model import Floor, Terms, Tier
from tests.sla.factories import terms
from tests.store.processes import at_once


def use(version: int = 3, **changes: object) -> TermsUse:
    fields: dict[str, object] = {
        "slug": "asme",
        "version": version,
        "sha256": "3" * 64,
        "first_night": "2026-03-01",
        "last_night": "2026-03-01",
        "society_id": "ASME",
        "terms": terms(version=version),
    }
    return TermsUse(**(fields | changes))  # type: ignore[arg-type]


def test_terms_that_no_night_has_used_are_not_known(engine: Engine) -> None:
    assert used_terms(engine) == used_terms(engine, "asme") == []


def test_the_first_use_is_kept_with_all_that_the_terms_say(engine: Engine) -> None:
    use_terms(engine, "asme", "ASME", terms(), "2026-03-01")
    assert used_terms(engine) == used_terms(engine, "asme") == [use()]
    assert used_terms(engine, "aci") == []


def test_later_and_earlier_uses_widen_the_nights(engine: Engine) -> None:
    for night, first, last in (
        ("2026-03-05", "2026-03-05", "2026-03-05"),
        ("2026-03-07", "2026-03-05", "2026-03-07"),
        ("2026-03-06", "2026-03-05", "2026-03-07"),
        ("2026-02-28", "2026-02-28", "2026-03-07"),
    ):
        use_terms(engine, "asme", "ASME", terms(), night)
        assert used_terms(engine) == [use(first_night=first, last_night=last)]


def test_uses_come_by_society_and_version(engine: Engine) -> None:
    for slug, version in (("b", 10), ("b", 2), ("ä", 1), ("B", 3)):
        use_terms(engine, slug, slug.upper(), terms(version=version), "2026-03-01")
    assert [(each.slug, each.version) for each in used_terms(engine)] == [("B", 3), ("b", 2), ("b", 10), ("ä", 1)]
    assert [each.version for each in used_terms(engine, "b")] == [2, 10]


def test_error_terms_that_were_used_with_other_contents_are_refused(engine: Engine) -> None:
    use_terms(engine, "asme", "ASME", terms(), "2026-03-01")
    edited = terms(sha256="4" * 64, min_sample=60)
    with pytest.raises(StoreError) as caught:
        use_terms(engine, "asme", "ASME", edited, "2026-03-02")
    assert str(caught.value) == "asme: terms version 3 was used before with other contents; restore them"
    assert used_terms(engine) == [use()]
    use_terms(engine, "aci", "ACI", edited, "2026-03-02")
    use_terms(engine, "asme", "ASME", replace(edited, version=4), "2026-03-02")
    assert [(each.slug, each.version, each.sha256[0]) for each in used_terms(engine)] == [
        ("aci", 3, "4"),
        ("asme", 3, "3"),
        ("asme", 4, "4"),
    ]


def test_the_end_that_terms_were_given_since_is_kept(engine: Engine) -> None:
    """The one thing of used terms that may be changed; the digest leaves it out."""
    use_terms(engine, "asme", "ASME", terms(), "2026-03-01")
    ended = terms(effective_to=date(2026, 6, 30))
    use_terms(engine, "asme", "ASME", ended, "2026-03-02")
    assert used_terms(engine) == [use(last_night="2026-03-02", terms=ended)]


def test_what_a_folder_says_now_is_kept_of_versions_in_use_only(engine: Engine) -> None:
    for version in (3, 4):
        use_terms(engine, "asme", "ASME", terms(version=version), "2026-03-01")
    use_terms(engine, "asme", "ASME", terms(version=3), "2026-03-09")
    use_terms(engine, "aci", "ACI", terms(version=3), "2026-03-01")
    ended = terms(version=3, effective_to=date(2026, 6, 30))
    renew_terms(engine, "asme", "ASME-2", [ended, terms(version=5)])
    assert used_terms(engine) == [
        use(slug="aci", society_id="ACI"),
        use(last_night="2026-03-09", terms=ended, society_id="ASME-2"),
        use(4),
    ]
    renew_terms(engine, "asme", "ASME-2", [])
    renew_terms(engine, "none", "NONE", [ended])
    assert len(used_terms(engine)) == 3


def test_error_a_folder_that_says_something_else_of_used_terms_changes_nothing(engine: Engine) -> None:
    use_terms(engine, "asme", "ASME", terms(), "2026-03-01")
    with pytest.raises(StoreError, match="terms version 3 was used before with other contents"):
        renew_terms(engine, "asme", "ASME", [terms(sha256="4" * 64)])
    assert used_terms(engine) == [use()]


def _use_nights(url: str, number: int) -> None:
    engine = open_engine(url)
    for night in range(1 + number, 29, 4):
        use_terms(engine, "asme", "ASME", terms(), f"2026-03-{night:02d}")
    engine.dispose()


def test_uses_at_once_lose_no_night(engine: Engine, database_url: str) -> None:
    at_once(4, _use_nights, database_url)
    assert used_terms(engine) == [use(first_night="2026-03-01", last_night="2026-03-28")]


_NAME = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=9)
_PERCENT = st.sampled_from(["0", "0.95", "12.5", "100"])
_TERMS = st.builds(
    Terms,
    version=st.integers(1, 2**31 - 1),
    effective_from=st.dates(),
    effective_to=st.none() | st.dates(),
    editions=st.dictionaries(_NAME, st.lists(st.integers(1900, 2100), max_size=3).map(tuple), max_size=3),
    checks=st.lists(_NAME, max_size=3).map(tuple),
    top_k=st.integers(1, 99),
    max_tokens=st.integers(1, 10**6),
    max_error_rate=_PERCENT,
    min_sample=st.integers(1, 10**6),
    window=st.sampled_from(["night", "calendar_month"]),
    max_missed_nights=st.integers(0, 31),
    dispute_days=st.integers(0, 365),
    floors=st.lists(
        st.builds(
            Floor,
            measure=_NAME,
            floor=_PERCENT,
            rule=st.sampled_from(["point", "exact_binomial_95"]),
            tiers=st.lists(st.builds(Tier, below=_PERCENT, at_least=_PERCENT, credit_percent=_PERCENT), max_size=2).map(
                tuple
            ),
        ),
        max_size=2,
    ).map(tuple),
    sha256=_NAME,
)


@pytest.fixture
def slugs() -> Iterator[str]:
    """A society of its own for each example that shares the database."""
    return (f"s{number}" for number in range(10_000))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kept=_TERMS)
def test_any_terms_come_back_as_they_were(engine: Engine, slugs: Iterator[str], kept: Terms) -> None:
    slug = next(slugs)
    use_terms(engine, slug, "S", kept, "2026-03-01")
    assert [each.terms for each in used_terms(engine, slug)] == [kept]
