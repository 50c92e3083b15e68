"""Numbers of the revisions of a month: a new one whenever the runs or scorings that it pools are others."""

from sqlalchemy import Engine, insert, select

from harness.store.engine import writing
from harness.store.schema import POOLING


def pooling_revision(engine: Engine, slug: str, month: str, basis_sha256: str, recorded_at: str) -> int:
    """The revision of a month over that basis: the latest one's where it has the same, else the next."""
    query = select(POOLING.c.revision, POOLING.c.basis_sha256).where(POOLING.c.slug == slug, POOLING.c.month == month)
    with writing(engine, exclusive=True) as connection:
        last = connection.execute(query.order_by(POOLING.c.revision.desc()).limit(1)).one_or_none()
        if last is not None and last.basis_sha256 == basis_sha256:
            return int(last.revision)
        revision = 1 if last is None else int(last.revision) + 1
        row = {"slug": slug, "month": month, "revision": revision, "basis_sha256": basis_sha256}
        connection.execute(insert(POOLING).values(**row, recorded_at=recorded_at))
        return revision
