"""Every number that a page prints, and every number that its data has: the first must be among the second."""

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from harness.site.views import percent_of
from tests.site.html import Element

_NUMBER: Final = re.compile(r"(?<![\w.§-])\d+(?:\.\d+)?(?![\w-])")

_SAID: Final = {"0", "1", "95", "100", "256", "404"}
"""Numbers of the page's own sentences: the level of confidence, the ends of a scale, `0 of 0`, SHA-256."""


def printed(page: Element) -> Iterator[str]:
    """The numbers in the text of a page's main part, but for the labels of scales, which name no figure."""
    (main,) = page.find("main")
    for text in _texts(main):
        yield from _NUMBER.findall(text)


def _texts(element: Element) -> Iterator[str]:
    if element.tag == "text" and "tick" in element.attributes.get("class", "").split():
        return
    if element.tag in ("code", "pre", "script") or "chip" in element.attributes.get("class", "").split():
        return
    pieces: list[str] = []
    for child in element.children:
        if isinstance(child, str):
            pieces.append(child)
        else:
            yield from _texts(child)
    yield " ".join(pieces)


def known(*documents: Any) -> set[str]:
    """Every number of the documents as pages may print it: as it is, and a ratio as a percent."""
    found = set(_SAID)
    for leaf in _leaves(documents):
        found |= set(_forms(leaf))
    return found


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _forms(leaf: Any) -> Iterable[str]:
    if isinstance(leaf, bool) or leaf is None:
        return ()
    text = str(leaf)
    found = [text, *_NUMBER.findall(text), *re.findall(r"\d+(?:\.\d+)?", text)]
    if re.fullmatch(r"-?\d+\.\d+", text):
        whole, _, decimals = text.partition(".")
        if len(decimals) >= 3:
            found.append(f"{int(whole + decimals[:2])}.{decimals[2:]}")
        found += [percent_of(text.lstrip("-")), f"{Decimal(text):.2f}"]
    if day := re.match(r"(\d{4})-(\d{2})-?(\d{2})?", text):
        found += [day[1], str(int(day[3] or 0))]
    return found


def parts(page: Element) -> Iterator[Any]:
    """The claim parts that a page shows, as JSON."""
    for claim in page.find("details", class_="claim"):
        (shown,) = claim.find("pre")
        yield json.loads(shown.text())
