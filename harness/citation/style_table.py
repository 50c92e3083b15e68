"""Reading a [style] table: every defect at once, each with its key, what was found, what was expected, what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Final, Literal, get_args

from harness.citation.section import KINDS, Grammar, Kind

DEFAULT_FORMAT: Final = "[{society} {standard} {section}]"
EDITION_PLACEHOLDERS: Final = frozenset({"edition_year", "edition_yy", "edition_label"})

Containment = Literal["path", "article", "leading_digits"]
CONTAINMENTS: Final[tuple[Containment, ...]] = get_args(Containment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One thing wrong with a [style] table; `field` is a dotted key below it. The loader makes a Problem of each."""

    field: str
    found: str
    expected: str
    remedy: str


class StyleError(ValueError):
    """A [style] table with every defect found in it."""

    def __init__(self, defects: tuple[Defect, ...]) -> None:
        super().__init__("\n".join(f"{d.field}: found {d.found}; expected {d.expected}. {d.remedy}" for d in defects))
        self.defects = defects

    def __reduce__(self) -> tuple[type["StyleError"], tuple[tuple[Defect, ...]]]:
        return type(self), (self.defects,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """A standard that the society knows (known is not contracted): the editions it came in, years ascending.

    No editions: an undated standard. `labels` are edition names by year ("Rev. 5"); `aliases` are other names, which
    imply the society too ("NEC").
    """

    editions: tuple[int, ...]
    labels: Mapping[int, str]
    aliases: tuple[str, ...] = ()


_KEYS: Final = (
    "format",
    "separators",
    "containment",
    "commentary_prefix",
    "containers",
    "tails",
    "bracketed",
    "joint",
    "words",
    "standards",
)
_STANDARD_KEYS: Final = ("editions", "aliases", "labels")
_PLACEHOLDERS: Final = EDITION_PLACEHOLDERS | {"society", "standard", "section"}
_WORDLESS: Final[frozenset[Kind]] = frozenset({"section", "paragraph", "control"})
_YEARS: Final = range(1850, 2151)


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleTable:
    """What a [style] table says, typed and checked key by key."""

    format: str
    grammar: Grammar
    standards: Mapping[str, Standard]
    containment: Containment
    joint: tuple[str, ...]


class _Reader:
    """Typed values out of an untyped table, with a list of what was wrong."""

    def __init__(self) -> None:
        self.defects: list[Defect] = []

    def refuse(self, key: str, found: str, expected: str, remedy: str) -> None:
        self.defects.append(Defect(field=key, found=found, expected=expected, remedy=remedy))

    def known_keys(self, table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in known:
                self.refuse(f"{where}{key}", "an unknown key", "one of " + ", ".join(known), "Remove or rename it.")

    def text(self, table: Mapping[str, Any], key: str, default: str) -> str:
        value = table.get(key, default)
        if isinstance(value, str) and "\n" not in value:
            return value
        self.refuse(key, repr(value), "one line of text", "Write it in quotes.")
        return default

    def texts(
        self, table: Mapping[str, Any], key: str, default: tuple[str, ...] = (), where: str = ""
    ) -> tuple[str, ...]:
        value = table.get(key, default)
        if isinstance(value, list | tuple) and all(isinstance(v, str) and v and v == v.strip() for v in value):
            if len(set(value)) == len(value):
                return tuple(value)
            self.refuse(f"{where}{key}", repr(value), "each text once", "Remove the repeated one.")
            return default
        self.refuse(f"{where}{key}", repr(value), "a list of texts, none empty", 'Write it as ["…", "…"].')
        return default

    def table(self, table: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
        value = table.get(key, {})
        if isinstance(value, Mapping):
            return value
        self.refuse(f"{where}{key}", repr(value), "a table", f"Write it as a table of its own: [style.{where}{key}].")
        return {}


def read_table(table: Mapping[str, Any]) -> StyleTable:
    """The typed table; raises StyleError with every defect found."""
    reader = _Reader()
    reader.known_keys(table, _KEYS, "")
    format_ = _read_format(reader, table)
    containment = next((rule for rule in CONTAINMENTS if rule == table.get("containment", "path")), None)
    if containment is None:
        reader.refuse(
            "containment", repr(table["containment"]), "one of " + ", ".join(CONTAINMENTS), "Name one of them."
        )
    grammar = _read_grammar(reader, table)
    standards = _read_standards(reader, table)
    joint = reader.texts(table, "joint", ("ANSI",))
    if "{edition_label}" in format_:
        _check_labels(reader, standards)
    if reader.defects or containment is None:
        raise StyleError(tuple(reader.defects))
    return StyleTable(format=format_, grammar=grammar, standards=standards, containment=containment, joint=joint)


def _read_format(reader: _Reader, table: Mapping[str, Any]) -> str:
    format_ = reader.text(table, "format", DEFAULT_FORMAT)
    remedy = f"The default is {DEFAULT_FORMAT}"
    try:
        pieces = list(Formatter().parse(format_))
    except ValueError:
        reader.refuse("format", repr(format_), "text with placeholders in braces", remedy)
        return DEFAULT_FORMAT
    names = [name for _, name, _, _ in pieces if name is not None]
    plain = all(not spec and not conversion for _, _, spec, conversion in pieces)
    if not plain or not set(names) <= _PLACEHOLDERS or len(set(names)) < len(names):
        expected = "each placeholder at most once, of " + ", ".join(sorted(_PLACEHOLDERS))
        reader.refuse("format", repr(format_), expected, remedy)
        return DEFAULT_FORMAT
    if "standard" not in names or names[-1] != "section" or not pieces[-1][0] or "{{" in format_ or "}}" in format_:
        expected = "{standard}, and {section} as the last placeholder, set off by a space"
        reader.refuse("format", repr(format_), expected, remedy)
        return DEFAULT_FORMAT
    return format_


def _read_grammar(reader: _Reader, table: Mapping[str, Any]) -> Grammar:
    words = _read_words(reader, table)
    separators = reader.texts(table, "separators", (".",))
    if "." not in separators or not set(separators) <= {".", "-"}:
        reader.refuse(
            "separators", repr(list(separators)), '["."] or [".", "-"]', "Name the dot, and the hyphen if it splits."
        )
    prefix = table.get("commentary_prefix")
    if prefix is not None and not (isinstance(prefix, str) and len(prefix) == 1 and "A" <= prefix <= "Z"):
        reader.refuse("commentary_prefix", repr(prefix), "one capital letter", 'Write it as "R".')
    containers = reader.texts(table, "containers")
    for container in containers:
        if container not in {word.rstrip() for word in words.values()} or "table" not in words:
            expected = "the word of a kind of the style, and a word for tables"
            reader.refuse("containers", repr(container), expected, "Take it from [style.words], less its space.")
    tails = reader.texts(table, "tails")
    if len({tail.split()[0] for tail in tails}) < len(tails):
        reader.refuse("tails", repr(list(tails)), "first words that differ", "They begin path elements, in lower case.")
    bracketed = reader.texts(table, "bracketed")
    for name in bracketed:
        if name not in words:
            reader.refuse("bracketed", repr(name), "a kind that has a word in [style.words]", "Give it a word.")
    return Grammar(
        words=words,
        separators=separators,
        commentary_prefix=prefix,
        containers=containers,
        tails=tails,
        bracketed=tuple(kind for kind in KINDS if kind in bracketed),
    )


def _read_words(reader: _Reader, table: Mapping[str, Any]) -> dict[Kind, str]:
    given = reader.table(table, "words")
    reader.known_keys(given, KINDS, "words.")
    words: dict[Kind, str] = {}
    for kind in KINDS:
        if kind not in given:
            continue
        word = given[kind]
        taken = next((other for other, text in words.items() if word and text == word and kind != "commentary"), None)
        if not isinstance(word, str) or word != word.lstrip() or "\n" in word or (word == "" and kind not in _WORDLESS):
            expected = "the text printed before the number (may be empty for " + ", ".join(sorted(_WORDLESS)) + ")"
            reader.refuse(f"words.{kind}", repr(word), expected, "Write the word with the space behind it.")
        elif taken is not None:
            reader.refuse(
                f"words.{kind}", repr(word), f"another word than that of {taken}", "Kinds must be told apart."
            )
        else:
            words[kind] = word
    if not any(kind in words for kind in KINDS if kind not in {"commentary", "exception"}):
        reader.refuse("words", "no kind of section", "at least one kind with its word", 'Add section = "§".')
    return words


def _read_standards(reader: _Reader, table: Mapping[str, Any]) -> dict[str, Standard]:
    standards: dict[str, Standard] = {}
    for name, value in reader.table(table, "standards").items():
        where = f"standards.{name}."
        if not name or name != " ".join(name.split()):
            reader.refuse(
                f"standards.{name}",
                repr(name),
                "the designator as the society writes it, single spaces within",
                "Mend its spaces.",
            )
        if not isinstance(value, Mapping):
            reader.refuse(f"standards.{name}", repr(value), "a table with editions", "Write editions = [2022].")
            continue
        reader.known_keys(value, _STANDARD_KEYS, where)
        editions = _read_years(reader, value.get("editions"), f"{where}editions")
        labels: dict[int, str] = {}
        for key, label in reader.table(value, "labels", where).items():
            if isinstance(label, str) and label and label == label.strip() and key in {str(year) for year in editions}:
                labels[int(key)] = label
            else:
                expected = "the year of a listed edition and its label"
                reader.refuse(f"{where}labels.{key}", repr(label), expected, 'Write it as 2020 = "Rev. 5".')
        aliases = reader.texts(value, "aliases", where=where)
        standards[name] = Standard(editions=editions, labels=labels, aliases=aliases)
    if not standards:
        reader.refuse("standards", "no standard", "at least one standard", 'Add [style.standards."…"].')
    return standards


def _read_years(reader: _Reader, editions: object, key: str) -> tuple[int, ...]:
    if isinstance(editions, list) and all(type(year) is int and year in _YEARS for year in editions):
        years = tuple(editions)
        if years == tuple(sorted(set(years))):
            return years
    expected = "four-digit years, ascending, each once ([] for an undated standard)"
    reader.refuse(key, repr(editions), expected, "Write editions = [2018, 2022].")
    return ()


def _check_labels(reader: _Reader, standards: Mapping[str, Standard]) -> None:
    for name, standard in standards.items():
        for year in standard.editions:
            if year not in standard.labels:
                remedy = f'Add {year} = "…" to its labels.'
                reader.refuse(f"standards.{name}.labels", f"no label for {year}", "a label for each edition", remedy)
