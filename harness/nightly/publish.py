"""Publish: frozen results become the site's pages and twins, and what an event may cite of them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.nightly.emit import Cited
from harness.site.eval_json import decode
from harness.site.model import EvalResult
from harness.site.publish import Published, drafted, publish


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


def cite_unpublished(site: SitePlace, results: Sequence[EvalResult]) -> Mapping[tuple[str, int], Cited]:
    """What events cite when publishing was refused: a settlement waits for no page (sla.md). The tables are made aside
    for their digests, by the code and for the addresses that publishing will use. A result that breaks an invariant of
    its own is left out: its numbers contradict each other, and no money follows from those.
    """
    cited = {}
    for result in results:
        with drafted(result, site.base_url) as draft:
            if draft is not None:
                cited[result.slug, result.revision] = _cited_in(site, draft.folder, draft.address)
    return cited


def _cited(site: SitePlace, published: Published) -> Cited:
    """The immutable revision as it now stands on disk: an event's digest is that of the very file it names."""
    return _cited_in(site, site.root / published.address.strip("/"), published.address)


def _cited_in(site: SitePlace, folder: Path, below_root: str) -> Cited:
    document = decode((folder / "eval.json").read_bytes())
    claims = {
        entry.measure: measure.claim
        for entry in document.floors
        if (measure := document.measure(entry.measure)) is not None and measure.claim is not None
    }
    address = site.base_url.rstrip("/") + below_root
    return Cited(
        page_url=address,
        scores_url=f"{address}scores.csv",
        scores_sha256=hashlib.sha256((folder / "scores.csv").read_bytes()).hexdigest(),
        claims=claims,
    )
