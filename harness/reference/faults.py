"""Fault profiles as data: what goes wrong, for which share of the questions, decided by the question and a seed."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from harness.errors import InvalidInput, Problem, UsageError


class Fault(StrEnum):
    """What can go wrong (gateway.md, The reference gateway); each word is also a profile that spoils every call."""

    WRONG_EDITION = "wrong_edition"
    SIBLING_SECTION = "sibling_section"
    PARENT_SECTION = "parent_section"
    DOUBLE_SPACE = "double_space"
    NO_BREAK_SPACE = "no_break_space"
    MISSING_BRACKETS = "missing_brackets"
    DEFAULT_FORMAT = "default_format"
    EN_DASH = "en_dash"
    YEAR_STRING = "year_string"
    PATH_NUMBERS = "path_numbers"
    MISSING_FIELD = "missing_field"
    MARKUP = "markup"
    OTHER_SOCIETY = "other_society"
    UNPINNED = "unpinned"
    EMPTY_PASSAGES = "empty_passages"
    DROPPED_LEDGER_ID = "dropped_ledger_id"
    TRUNCATED_JSON = "truncated_json"
    HTML_PAGE = "html_page"
    OVERSIZED = "oversized"
    HANG = "hang"
    SLOW_DRIP = "slow_drip"
    UNLICENSED = "unlicensed"
    RATE_LIMIT_BURST = "rate_limit_burst"
    HTTP_500 = "http_500"
    HTTP_503 = "http_503"
    HTTP_503_ONCE = "http_503_once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One fault for a share in [0, 1] of the questions of `societies` (None: of all).

    `times`: how many calls in a row a passing fault spoils before one call of the same question gets through.
    `seconds`: how long a hang or a drip lasts, and what a Retry-After asks for (rounded up).
    """

    fault: Fault
    share: float = 1.0
    societies: tuple[str, ...] | None = None
    times: int = 1
    seconds: float = 1.0

    def applies_to(self, societies: Iterable[str]) -> bool:
        return self.societies is None or not set(self.societies).isdisjoint(societies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Rules that divide a society's questions among themselves, in order; what they leave is answered well."""

    name: str
    rules: tuple[Rule, ...] = ()

    def rule_for(self, seed: int, corpus: str, societies: Iterable[str], question: str) -> Rule | None:
        """The rule that the question meets, the same in every run of one seed, whatever was asked before."""
        place = draw(seed, corpus, question)
        below = 0.0
        for rule in self.rules:
            if rule.applies_to(societies):
                below += rule.share
                if place < below:
                    return rule
        return None


def draw(seed: int, corpus: str, question: str, purpose: str = "") -> float:
    """A number in [0, 1), uniform over questions."""
    text = "\x1f".join((str(seed), corpus, question, purpose))
    return int.from_bytes(sha256(text.encode()).digest()[:6], "big") / 2**48


_PROFILES: Final = "profiles.toml"
_LONG: Final = {
    Fault.HANG: Rule(fault=Fault.HANG, seconds=3600.0),
    Fault.SLOW_DRIP: Rule(fault=Fault.SLOW_DRIP, seconds=3600.0),
}


def profile_names() -> list[str]:
    """The built-in profiles: those of profiles.toml and one for each fault."""
    return [*_built_in(), *Fault]


def load_profile(name: str | Path) -> Profile:
    """The built-in profile of that name, else the one in that TOML file (a `rules` array).

    Raises UsageError for a name that is neither, InvalidInput with every problem of the file.
    """
    built_in = _built_in()
    if name in built_in:
        return _profile(str(name), built_in[str(name)], _PROFILES)
    if name in set(Fault):
        fault = Fault(str(name))
        return Profile(name=fault.value, rules=(_LONG.get(fault, Rule(fault=fault)),))
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"no fault profile {str(name)!r}: neither a file nor one of {', '.join(profile_names())}")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        problem = Problem(file=str(path), found=str(error), expected="TOML in UTF-8", remedy="Mend the file.")
        raise InvalidInput([problem]) from None
    return _profile(path.stem, table, str(path))


def _built_in() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(files("harness.reference").joinpath(_PROFILES).read_text(encoding="utf-8"))


def _profile(name: str, table: Mapping[str, Any], file: str) -> Profile:
    problems: list[Problem] = []

    def note(field: str, found: str, expected: str) -> None:
        problems.append(Problem(file=file, field=field, found=found, expected=expected, remedy="Correct the value."))

    rows = table.get("rules")
    if set(table) != {"rules"} or not isinstance(rows, list):
        note("rules", f"the keys {', '.join(table) or 'none'}", "an array of tables `rules` and nothing else")
        raise InvalidInput(problems)
    rules: list[Rule] = []
    for number, row in enumerate(rows):
        faults = _faults_of(row)
        for key, found, expected in faults:
            note(f"rules[{number}].{key}" if key else f"rules[{number}]", found, expected)
        if not faults:
            named = row.get("societies")
            rules.append(
                Rule(**row | {"fault": Fault(row["fault"]), "societies": None if named is None else tuple(named)})
            )
    for society in {name for rule in rules for name in rule.societies or ()} | {""}:
        total = sum(rule.share for rule in rules if rule.societies is None or society in rule.societies)
        if total > 1.0 + 1e-9:
            note("rules", f"shares of {total:g} in all for {society or 'every society'}", "shares of at most 1 in all")
    if problems:
        raise InvalidInput(problems)
    return Profile(name=name, rules=tuple(rules))


def _faults_of(row: Any) -> list[tuple[str, str, str]]:
    """What is wrong with one row of a profile: key, found, expected."""
    if not isinstance(row, dict):
        return [("", type(row).__name__, "a table")]
    known = {each.name for each in fields(Rule)}
    wrong = [(key, "an unknown key", f"one of {', '.join(sorted(known))}") for key in row if key not in known]
    checks = (
        ("fault", row.get("fault") in set(Fault), f"one of {', '.join(Fault)}"),
        ("share", _is_number(row.get("share", 1.0), most=1.0), "a number from 0 to 1"),
        ("seconds", _is_number(row.get("seconds", 1.0), most=86_400.0), "seconds from 0 to 86400"),
        ("times", type(row.get("times", 1)) is int and row.get("times", 1) >= 1, "a whole number from 1"),
        ("societies", _is_texts(row.get("societies", [])), "a list of society ids"),
    )
    return wrong + [(key, repr(row.get(key)), expected) for key, good, expected in checks if not good]


def _is_number(value: Any, *, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
