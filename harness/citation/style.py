"""A society's citation style as a value, read from the [style] table of its society.toml (citations.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any

from harness.citation.section import Grammar, Stop, scan_section
from harness.citation.style_table import (
    DEFAULT_FORMAT,
    EDITION_PLACEHOLDERS,
    Containment,
    Defect,
    Standard,
    StyleError,
    read_table,
)

__all__ = ["DEFAULT_FORMAT", "Containment", "Defect", "Standard", "Style", "StyleError"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A society's preferred citation format, with the standards, editions and section words it knows.

    `joint` are publishers that may stand beside the society with a slash ("ANSI/"); only the lenient parser reads them.
    The fields below are computed once from those above: `heads` maps everything that the style can print before a
    section to (standard, edition_year), `printed` is its inverse, `prints_edition` says whether the string carries the
    edition in whatever form.
    """

    society: str
    format: str = DEFAULT_FORMAT
    grammar: Grammar
    standards: Mapping[str, Standard]
    containment: Containment = "path"
    joint: tuple[str, ...] = ("ANSI",)
    prints_edition: bool = field(init=False, repr=False, compare=False)
    suffix: str = field(init=False, repr=False, compare=False)
    printed: Mapping[tuple[str, int | None], str] = field(init=False, repr=False, compare=False)
    heads: Mapping[str, tuple[str, int | None]] = field(init=False, repr=False, compare=False)
    head_lengths: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        placeholders = {name for _, name, _, _ in Formatter().parse(self.format)}
        prints_edition = not EDITION_PLACEHOLDERS.isdisjoint(placeholders)
        editions = [
            (name, year)
            for name, standard in self.standards.items()
            for year in (standard.editions if prints_edition else (None,))
        ]
        printed = {(name, year): self.head(name, year) for name, year in editions}
        derived = {
            "prints_edition": prints_edition,
            "suffix": self.format.partition("{section}")[2],
            "printed": printed,
            "heads": {head: edition for edition, head in printed.items()},
            "head_lengths": tuple(sorted({len(head) for head in printed.values()}, reverse=True)),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return hash((self.society, self.format))

    @classmethod
    def from_table(cls, table: Mapping[str, Any], *, society: str) -> "Style":
        """The style that a [style] table describes; raises StyleError with every defect found in it."""
        read = read_table(table)
        style = cls(
            society=society,
            format=read.format,
            grammar=read.grammar,
            standards=read.standards,
            containment=read.containment,
            joint=read.joint,
        )
        defects = (*_alike(style), *_shadowed(style))
        if defects:
            raise StyleError(defects)
        return style

    def head(self, standard: str, edition_year: int | None) -> str:
        """What is printed before the section, for any year, listed or not; a label that is not listed is empty."""
        year = 0 if edition_year is None else edition_year
        known = self.standards.get(standard)
        return self.format.partition("{section}")[0].format(
            society=self.society,
            standard=standard,
            edition_year=f"{year:04d}",
            edition_yy=f"{year % 100:02d}",
            edition_label="" if known is None else known.labels.get(year, ""),
        )

    def with_default_format(self) -> "Style":
        """The same society printed in the default format, which names no edition."""
        return replace(self, format=DEFAULT_FORMAT)


def _alike(style: Style) -> tuple[Defect, ...]:
    """Editions that print the same, so that neither could be read back."""
    return tuple(
        Defect(
            field="standards",
            found=f"{head!r} for {style.heads[head]} and for {edition}",
            expected="editions that print differently",
            remedy="Print the year with four digits, or leave one of the two out.",
        )
        for edition, head in style.printed.items()
        if style.heads[head] != edition
    )


def _shadowed(style: Style) -> tuple[Defect, ...]:
    """Heads that read as a shorter head with a section behind it."""
    words = [word for word in (*style.grammar.words.values(), *style.grammar.containers) if word]
    defects = []
    for head in style.heads:
        for longer in style.heads:
            first = longer[len(head) :].split(" ")[0]
            if not first or not longer.startswith(head):
                continue
            whole = not isinstance(scan_section(first, 0, style.grammar), Stop)
            if whole or any(word.startswith(f"{first} ") for word in words):
                defects.append(
                    Defect(
                        field="standards",
                        found=f"{head!r} and {longer!r}",
                        expected="standards of which none reads as another with a section behind it",
                        remedy="Write one of them another way.",
                    )
                )
    return tuple(defects)
