"""The terms that nights have used and those that folders add: what must be settled, also when a folder is broken."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from sqlalchemy import Engine

from harness.sla.period import Contract
from harness.store.terms import TermsUse, used_terms
from harness.testset.model import Society


def contracts(engine: Engine, societies: Iterable[Society] = ()) -> list[Contract]:
    """The contract of every society that has been run under terms, by slug.

    `societies` are valid folders, checked against what was used: their versions that no night has used yet count too.
    """
    used: dict[str, list[TermsUse]] = defaultdict(list)
    for use in used_terms(engine):
        used[use.slug].append(use)
    offered = {society.slug: society for society in societies}
    found = []
    for slug, uses in sorted(used.items()):
        society = offered.get(slug)
        known = {use.version: use.terms for use in uses if use.terms is not None}
        if society is not None:
            known |= {terms.version: terms for terms in society.terms}
        ids = [use.society_id for use in uses if use.society_id is not None]
        if known and (ids or society is not None):
            found.append(
                Contract(
                    society_id=ids[-1] if society is None else society.id,
                    slug=slug,
                    first_night=date.fromisoformat(min(use.first_night for use in uses)),
                    terms=tuple(terms for _, terms in sorted(known.items())),
                )
            )
    return found
