"""The strict parser: exactly the strings that the style prints, and their fields (citations.md)."""

from harness.citation.error import CitationError
from harness.citation.model import Citation
from harness.citation.section import Section, Stop, reach_behind, scan_section, shared_length
from harness.citation.style import Style


def parse_citation(text: str, style: Style) -> Citation:
    """The fields of a canonical string; `edition_year` is None where the style does not print it.

    Raises CitationError at the first character that no canonical string has there. Linear in the text.
    """
    if not isinstance(text, str):
        raise CitationError("", None, "a string")
    furthest = Stop(0, "")
    for length in style.head_lengths:
        known = style.heads.get(text[:length])
        if known is None or length > len(text):
            continue
        scanned = scan_section(text, length, style.grammar)
        if isinstance(scanned, Stop):
            furthest = max(furthest, scanned, key=lambda stop: stop.position)
            continue
        end = scanned[1]
        if text[end:] == style.suffix:
            standard, year = known
            return Citation(
                society=style.society,
                standard=standard,
                section=text[length:end],
                edition_year=year,
                section_path=scanned[0].path,
                citation=text,
            )
        furthest = max(furthest, _behind(text, length, end, style), key=lambda stop: stop.position)
    furthest = _in_head(text, style, furthest)
    raise CitationError(text, furthest.position, furthest.expected)


def parse_section(section: str, style: Style) -> Section:
    """Kind and path of a section string; raises CitationError at the first character that does not belong to one."""
    if not isinstance(section, str):
        raise CitationError("", None, "a string", "section")
    scanned = scan_section(section, 0, style.grammar)
    if isinstance(scanned, Stop):
        raise CitationError(section, scanned.position, scanned.expected, "section")
    if scanned[1] < len(section):
        stop = reach_behind(section, 0, scanned[1], style.grammar)
        raise CitationError(section, stop.position, stop.expected, "section")
    return scanned[0]


def _behind(text: str, start: int, end: int, style: Style) -> Stop:
    """Where a text fails that goes on behind its section."""
    closed = end + shared_length(text, end, style.suffix)
    if closed == end + len(style.suffix):
        return Stop(closed, "nothing more")
    inside = reach_behind(text, start, end, style.grammar)
    return inside if inside.position > closed else Stop(closed, f"{style.suffix[closed - end :]!r}")


def _in_head(text: str, style: Style, furthest: Stop) -> Stop:
    """Where a text fails before its section, unless it got further with another head."""
    heads = [head for head in style.heads if len(head) > furthest.position]
    reached = max((shared_length(text, 0, head) for head in heads), default=0)
    if reached < furthest.position or (furthest.expected and reached == furthest.position):
        return furthest
    return Stop(reached, f"a standard and edition that the style lists, as {style.format}")
