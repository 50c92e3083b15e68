"""Publish: frozen results become the site's pages and twins, and what an event may cite of them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.nightly.emit import Cited
from harness.site.eval_json import decode
from harness.site.model import EvalResult
from harness.site.publish import Published, publish


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePlace:
    """Where the site is built, who owns the tree, and the public address that claim parts point into."""

    root: Path
    deployment: str
    base_url: str


def publish_societies(
    site: SitePlace, results: Sequence[EvalResult], canaries: Sequence[str]
) -> Mapping[tuple[str, int], Cited]:
    """Publish the results in one step; what events cite, by society slug and revision.

    Raises PublishRefused where an invariant fails; what visitors see is then unchanged.
    """
    published = publish(site.root, results, site.deployment, base_url=site.base_url, canaries=canaries)
    return {(each.slug, each.revision): _cited(site, each) for each in published}


def _cited(site: SitePlace, published: Published) -> Cited:
    """The immutable revision as it now stands on disk: an event's digest is that of the very file it names."""
    folder = site.root / published.address.strip("/")
    document = decode((folder / "eval.json").read_bytes())
    claims = {
        entry.measure: measure.claim
        for entry in document.floors
        if (measure := document.measure(entry.measure)) is not None and measure.claim is not None
    }
    address = site.base_url.rstrip("/") + published.address
    return Cited(
        page_url=address,
        scores_url=f"{address}scores.csv",
        scores_sha256=hashlib.sha256((folder / "scores.csv").read_bytes()).hexdigest(),
        claims=claims,
    )
