"""Revisions: verdicts, numbers and assessments made from stored transcripts. Written whole or not at all."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Engine, Select, func, insert, select
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from harness.scoring.model import SCORER_VERSION, ItemScore, Measure
from harness.sla.model import Assessment
from harness.store import wire
from harness.store.engine import reading, streaming, writing
from harness.store.schema import ASSESSMENT, FAULT, MEASURE, REVISION, RUN, SCORE

BATCH: Final = 2_000
"""Rows written at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionKey:
    """One scoring of one society's part of one run."""

    run_id: str
    slug: str
    revision: int

    def columns(self) -> dict[str, str | int]:
        return {"run_id": self.run_id, "slug": self.slug, "revision": self.revision}


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What is known of a revision. `scores_sha256` is over its verdict rows in item order. The others are set by a
    rescore: its reason and, where the gold was corrected, the frozen folder that has it with its test set."""

    run_id: str
    slug: str
    revision: int
    scorer_version: int
    scored_at: str
    scores_sha256: str
    reason: str | None = None
    gold_sha256: str | None = None
    testset_version: str | None = None
    testset_sha256: str | None = None

    @property
    def key(self) -> RevisionKey:
        return RevisionKey(run_id=self.run_id, slug=self.slug, revision=self.revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescore:
    """Why a revision was made from stored transcripts, and whose gold it has (None: that night's)."""

    reason: str
    gold_sha256: str | None = None
    testset_version: str | None = None
    testset_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """An item's verdict, the id it is published under and, for each expectation that is not correct, its diagnosis as
    JSON by expectation number."""

    item_hash: str
    score: ItemScore
    faults: Mapping[int, str]


def latest_revision(engine: Engine, run_id: str, slug: str) -> Revision | None:
    query = select(REVISION).where(REVISION.c.run_id == run_id, REVISION.c.slug == slug)
    with reading(engine) as connection:
        row = connection.execute(query.order_by(REVISION.c.revision.desc()).limit(1)).one_or_none()
    return None if row is None else Revision(**row._mapping)


def next_revision(engine: Engine, night: str, slug: str) -> int:
    """The number of the next revision of a society's night, over all runs of that night."""
    query = select(func.max(REVISION.c.revision)).join_from(REVISION, RUN, REVISION.c.run_id == RUN.c.run_id)
    with reading(engine) as connection:
        return (connection.execute(query.where(RUN.c.night == night, REVISION.c.slug == slug)).scalar() or 0) + 1


def save_revision(
    engine: Engine,
    key: RevisionKey,
    scored: Iterable[Scored],
    measures: Iterable[Measure],
    scored_at: str,
    rescore: Rescore | None = None,
) -> Revision:
    """Store a revision in one transaction. `measures` is read after all of `scored` has been, which may come in any
    order: the digest is over the verdict rows in the order of item ids."""
    rescored = {} if rescore is None else asdict(rescore)
    with writing(engine) as connection:
        # The parent row comes first for the foreign keys; its digest is known only after the rows were streamed.
        placeholder = {"scorer_version": SCORER_VERSION, "scored_at": scored_at, "scores_sha256": ""}
        connection.execute(insert(REVISION).values(**key.columns(), **placeholder, **rescored))
        for batch in _batches(scored):
            rows = [
                {
                    **key.columns(),
                    "item_id": each.score.item,
                    "item_hash": each.item_hash,
                    "verdict": wire.encode(each.score),
                }
                for each in batch
            ]
            connection.execute(insert(SCORE), rows)
            _insert_faults(connection, key, batch)
        numbers = [
            {
                **key.columns(),
                "name": measure.name,
                "stratum": measure.stratum or "",
                "good": str(measure.good),
                "valid": measure.valid,
                "number": wire.encode(measure),
            }
            for measure in measures
        ]
        if numbers:
            connection.execute(insert(MEASURE), numbers)
        digest = hashlib.sha256()
        for text in connection.execute(_verdicts(key), execution_options={"yield_per": BATCH}).scalars():
            digest.update(text.encode() + b"\n")
        connection.execute(REVISION.update().where(*_at(REVISION.c, key)).values(scores_sha256=digest.hexdigest()))
    return Revision(
        **key.columns(),  # type: ignore[arg-type]
        scorer_version=SCORER_VERSION,
        scored_at=scored_at,
        scores_sha256=digest.hexdigest(),
        **rescored,
    )


def iter_scores(engine: Engine, key: RevisionKey) -> Iterator[ItemScore]:
    """Verdicts of a revision by item id."""
    with streaming(engine, _verdicts(key), BATCH) as rows:
        for text in rows.scalars():
            yield wire.VERDICT.decode(text)


def find_score(engine: Engine, key: RevisionKey, item_id: str) -> ItemScore | None:
    query = select(SCORE.c.verdict).where(*_at(SCORE.c, key), SCORE.c.item_id == item_id)
    with reading(engine) as connection:
        text = connection.execute(query).scalar_one_or_none()
    return None if text is None else wire.VERDICT.decode(text)


def load_measures(engine: Engine, key: RevisionKey) -> list[Measure]:
    """Numbers of a revision by name and stratum, the whole before its strata."""
    query = select(MEASURE.c.number).where(*_at(MEASURE.c, key)).order_by(MEASURE.c.name, MEASURE.c.stratum)
    with reading(engine) as connection:
        return [wire.MEASURE.decode(text) for text in connection.execute(query).scalars()]


def iter_faults(engine: Engine, key: RevisionKey, item_id: str | None = None) -> Iterator[tuple[str, int, str]]:
    """(item id, expectation, diagnosis JSON) of what was not correct, in that order."""
    query = select(FAULT.c.item_id, FAULT.c.expectation, FAULT.c.diagnosis).where(*_at(FAULT.c, key))
    if item_id is not None:
        query = query.where(FAULT.c.item_id == item_id)
    with streaming(engine, query.order_by(FAULT.c.item_id, FAULT.c.expectation), BATCH) as rows:
        for row in rows:
            yield row.item_id, row.expectation, row.diagnosis


def save_assessments(engine: Engine, key: RevisionKey, assessments: Sequence[Assessment], assessed_at: str) -> None:
    """Store a revision's assessments once; storing the same revision's again changes nothing."""
    with writing(engine, exclusive=True) as connection:
        found = select(func.count()).select_from(ASSESSMENT).where(*_at(ASSESSMENT.c, key))
        if not assessments or connection.execute(found).scalar_one():
            return
        connection.execute(
            insert(ASSESSMENT),
            [
                {
                    **key.columns(),
                    "measure": each.floor.measure,
                    "status": each.status,
                    "assessed_at": assessed_at,
                    "assessment": wire.encode(each),
                }
                for each in assessments
            ],
        )


def load_assessments(engine: Engine, key: RevisionKey) -> list[Assessment]:
    """Assessments of a revision by measure."""
    query = select(ASSESSMENT.c.assessment).where(*_at(ASSESSMENT.c, key)).order_by(ASSESSMENT.c.measure)
    with reading(engine) as connection:
        return [wire.ASSESSMENT.decode(text) for text in connection.execute(query).scalars()]


def _insert_faults(connection: Connection, key: RevisionKey, batch: Sequence[Scored]) -> None:
    rows = [
        {**key.columns(), "item_id": each.score.item, "expectation": number, "diagnosis": diagnosis}
        for each in batch
        for number, diagnosis in each.faults.items()
    ]
    if rows:
        connection.execute(insert(FAULT), rows)


def _batches(scored: Iterable[Scored]) -> Iterator[list[Scored]]:
    stream = iter(scored)
    while batch := list(islice(stream, BATCH)):
        yield batch


def _at(columns: ReadOnlyColumnCollection[str, Any], key: RevisionKey) -> tuple[ColumnElement[bool], ...]:
    return (columns.run_id == key.run_id, columns.slug == key.slug, columns.revision == key.revision)


def _verdicts(key: RevisionKey) -> Select[str]:
    return select(SCORE.c.verdict).where(*_at(SCORE.c, key)).order_by(SCORE.c.item_id)
