"""The one stylesheet: contrast of both palettes computed, nothing from another host."""

import re
from pathlib import Path

import pytest

import harness.site

CSS = (Path(harness.site.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")

TEXT = ("ink", "slate", "provenance-blue", "met", "breached", "insufficient", "not-run")
GROUNDS = ("paper", "surface")


def palette(scheme: str) -> dict[str, str]:
    """The colour tokens of a scheme; dark ones replace the light ones they name."""
    light, dark = re.findall(r":root \{(.*?)\n\s*\}", CSS, re.DOTALL)[:2]
    tokens = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light))
    if scheme == "dark":
        tokens |= dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", dark))
    return tokens


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_contrast_of_known_pairs() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXT)
def test_text_is_4_5_to_1_on_every_ground(scheme: str, ground: str, text: str) -> None:
    tokens = palette(scheme)
    assert contrast(tokens[text], tokens[ground]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_notices_are_4_5_to_1_and_edges_3_to_1(scheme: str) -> None:
    tokens = palette(scheme)
    assert contrast(tokens["notice-ink"], tokens["notice-ground"]) >= 4.5
    assert all(contrast(tokens["edge"], tokens[ground]) >= 3 for ground in GROUNDS)


def test_the_schemes_differ_in_every_colour_that_text_stands_on_or_in() -> None:
    light, dark = palette("light"), palette("dark")
    assert {name for name in (*TEXT, *GROUNDS) if light[name] == dark[name]} == set()


def test_nothing_comes_from_another_host() -> None:
    assert re.findall(r"url\(|@import|https?://", CSS) == []


def test_every_token_used_is_defined() -> None:
    assert set(re.findall(r"var\(--([a-z0-9-]+)\)", CSS)) <= set(re.findall(r"--([a-z0-9-]+):", CSS))
