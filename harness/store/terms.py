"""Terms as nights have used them: frozen by their first use, and kept so that a month can be closed without the folder
(sla.md, Terms)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import Engine, insert, select

from harness.errors import StoreError
from harness.store import wire
from harness.store.engine import reading, writing
from harness.store.schema import TERMS_USE
from harness.testset.model import Terms

_TERMS: Final = msgspec.json.Decoder(Terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsUse:
    """A version of terms that has been used; nights as ISO dates. `terms` with the `effective_to` that its folder had
    last; None, like `society_id`, for what only a release before schema 0002 has used."""

    slug: str
    version: int
    sha256: str
    first_night: str
    last_night: str
    society_id: str | None
    terms: Terms | None


def used_terms(engine: Engine, slug: str | None = None) -> list[TermsUse]:
    """Versions of terms that a night has used, by society and version; of all societies where none is named."""
    query = select(TERMS_USE).order_by(TERMS_USE.c.slug, TERMS_USE.c.version)
    if slug is not None:
        query = query.where(TERMS_USE.c.slug == slug)
    with reading(engine) as connection:
        rows = [dict(row._mapping) for row in connection.execute(query)]
    return [TermsUse(**row | {"terms": None if row["terms"] is None else _TERMS.decode(row["terms"])}) for row in rows]


def use_terms(engine: Engine, slug: str, society_id: str, terms: Terms, night: str) -> None:
    """Record that a night uses this version, freezing it. Raises StoreError where an earlier use had another digest."""
    here = (TERMS_USE.c.slug == slug, TERMS_USE.c.version == terms.version)
    known = {"society_id": society_id, "terms": wire.encode(terms)}
    with writing(engine, exclusive=True) as connection:
        row = connection.execute(select(TERMS_USE).where(*here)).one_or_none()
        if row is None:
            used = {"slug": slug, "version": terms.version, "sha256": terms.sha256}
            nights = {"first_night": night, "last_night": night}
            connection.execute(insert(TERMS_USE).values(**used, **nights, **known))
        elif row.sha256 != terms.sha256:
            raise StoreError(f"{slug}: terms version {terms.version} was used before with other contents; restore them")
        else:
            nights = {"first_night": min(night, row.first_night), "last_night": max(night, row.last_night)}
            connection.execute(TERMS_USE.update().where(*here).values(**nights, **known))


def renew_terms(engine: Engine, slug: str, society_id: str, offered: Sequence[Terms]) -> None:
    """Keep what a folder now says of versions in use, of which only `effective_to` may have changed."""
    used = {use.version: use for use in used_terms(engine, slug)}
    for terms in offered:
        use = used.get(terms.version)
        if use is not None and (use.terms != terms or use.society_id != society_id):
            use_terms(engine, slug, society_id, terms, use.last_night)
