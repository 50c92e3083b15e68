"""Freezing a society's folder at the start of a run, and reading back what that night used."""

from datetime import date
from pathlib import Path

from harness.nightly.plan import SocietyPlan, plan_society, with_gold
from harness.store.files import BlobStore, pack_folder, unpacked_folder
from harness.store.runs import Run, RunSociety
from harness.store.scores import Revision
from harness.testset.society import load_society

FOLDER_FILES = ("society.toml", "terms.toml", "items.jsonl", "catalogue.jsonl")
"""What a night's numbers depend on; the reference gateway's corpus and the notes are not part of it."""


def freeze_society(blobs: BlobStore, folder: Path) -> str:
    """Keep the folder's files for as long as the run's numbers are; the digest to find them by."""
    return blobs.save(pack_folder(folder, FOLDER_FILES))


def thaw_society(blobs: BlobStore, digest: str, slug: str, night: date) -> SocietyPlan:
    """The society and its plan as they were that night. Raises StoreError where the files are broken."""
    with unpacked_folder(blobs.load(digest), slug) as folder:
        return plan_society(load_society(folder), night)


def plan_of(blobs: BlobStore, run: Run, part: RunSociety, revision: Revision | None) -> SocietyPlan:
    """What a revision scored: the items and terms that the run froze, with the gold of its correction, if any."""
    night = date.fromisoformat(run.night)
    plan = thaw_society(blobs, part.snapshot_sha256, part.slug, night)
    if revision is None or revision.gold_sha256 is None:
        return plan
    return with_gold(plan, thaw_society(blobs, revision.gold_sha256, part.slug, night).society)
