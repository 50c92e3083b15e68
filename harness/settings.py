"""Environment, harness.toml and command-line options become one frozen Settings: options win, then environment, then
file, then defaults. Nothing else in the project reads the environment."""

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import time
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from harness.errors import InvalidInput, Problem, UsageError

PREFIX: Final = "HARNESS_"
CONFIG_FILE: Final = "harness.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayTable:
    """`[gateway]` of harness.toml. `rest` is the field mapping, checked by the gateway room."""

    url: str | None = None
    ca_file: Path | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingTable:
    """`[asking]`: how calls are made. Seconds; `max_*` None: no budget; `rate` None: no limit, else calls a second."""

    concurrency: int = 64
    rate: float | None = None
    attempts: int = 4
    call_timeout: float = 30.0
    item_deadline: float = 120.0
    run_deadline: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NightTable:
    """`[night]`: the part of the UTC date in which answers are collected."""

    opens: time = time(0, 0)
    closes: time | None = None  # None: 24:00


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTable:
    """`[ledger]`: what every settlement event says of its origin, and where its journal is (None: in `store`)."""

    source: str = "urn:citehouse:harness"
    type_prefix: str = "com.citehouse.eval."
    journal: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTable:
    """`[site]`: who is named on pages, and the public address that claims link to (empty: relative links)."""

    deployment: str = "harness"
    contact: str = "mailto:standards-eval@citehouse.example"
    base_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All configuration. Relative paths are from the current folder; `store` holds transcripts and locks."""

    testsets: Path = Path("testsets")
    reports: Path = Path("reports")
    store: Path | None = None
    database: str | None = None
    log_format: str = "console"
    gateway: GatewayTable = field(default_factory=GatewayTable)
    asking: AskingTable = field(default_factory=AskingTable)
    night: NightTable = field(default_factory=NightTable)
    ledger: LedgerTable = field(default_factory=LedgerTable)
    site: SiteTable = field(default_factory=SiteTable)
    gateway_key: str | None = field(default=None, repr=False)
    source: str = CONFIG_FILE  # the configuration file, for messages

    @property
    def store_folder(self) -> Path:
        return self.store or self.reports / "store"

    @property
    def journal_file(self) -> Path:
        return self.ledger.journal or self.store_folder / "ledger.jsonl"

    @property
    def database_url(self) -> str:
        return self.database or f"sqlite:///{self.reports / 'harness.db'}"


_TABLES: Final = {
    "gateway": GatewayTable,
    "asking": AskingTable,
    "night": NightTable,
    "ledger": LedgerTable,
    "site": SiteTable,
}
_TOP: Final[Mapping[str, Callable[[str], Path | str]]] = {
    "testsets": Path,
    "reports": Path,
    "store": Path,
    "database": str,
    "log_format": str,
}
_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "url": str, "ca_file": str, "rest": dict,
    "concurrency": int, "rate": (int, float), "attempts": int, "call_timeout": (int, float),
    "item_deadline": (int, float), "run_deadline": (int, float), "max_calls": int, "max_tokens": int,
    "opens": time, "closes": time, "source": str, "type_prefix": str, "journal": str,
    "deployment": str, "contact": str, "base_url": str,
}  # fmt: skip


_PATHS: Final = ("ca_file", "journal")

_LEAST: Final = {"concurrency": 1, "attempts": 1, "rate": 1e-6}
"""The least value of a number that may not be zero; elsewhere 0 means 0."""

_LOG_FORMATS: Final = ("console", "json")


def load_settings(config: Path | None, options: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """The settings of this process. `options` are the global command-line options that were given.

    Raises InvalidInput with every problem of the file, UsageError for a bad variable or a file that is not there.
    """
    from_environment = environment.get(f"{PREFIX}CONFIG")
    path = config or (Path(from_environment) if from_environment else None)
    if path is None:
        settings = _from_file(Path(CONFIG_FILE)) if Path(CONFIG_FILE).is_file() else Settings()
    elif path.is_file():
        settings = _from_file(path)
    else:
        raise UsageError(f"{path}: no such configuration file")
    overrides: dict[str, Any] = {
        name: kind(environment[PREFIX + name.upper()])
        for name, kind in _TOP.items()
        if environment.get(PREFIX + name.upper())
    }
    overrides |= {name: value for name, value in options.items() if value is not None}
    settings = replace(settings, **overrides, gateway_key=_secret(environment, "GATEWAY_KEY"))
    if settings.log_format not in _LOG_FORMATS:
        raise UsageError(f"log_format: found {settings.log_format!r}; expected one of {', '.join(_LOG_FORMATS)}")
    if url := environment.get(f"{PREFIX}GATEWAY"):
        settings = replace(settings, gateway=replace(settings.gateway, url=url))
    return settings


def current_environment() -> Mapping[str, str]:
    """The process environment, read here and nowhere else."""
    return os.environ


def checked_gateway_url(url: str) -> str:
    """The gateway's base URL without trailing slash. Raises UsageError; a secret inside the URL is never shown."""
    try:
        parts = urlsplit(url)
        port = parts.port  # refuses what is no port
    except ValueError:
        raise UsageError(f"gateway URL: found {url!r}; expected http(s)://HOST[:PORT][/PATH]") from None
    if parts.username or parts.password:
        raise UsageError("gateway URL: found credentials in it; put the key into HARNESS_GATEWAY_KEY instead")
    if port == 0 or parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"gateway URL: found {url!r}; expected http(s)://HOST[:PORT][/PATH]")
    return url.rstrip("/")


def _secret(environment: Mapping[str, str], name: str) -> str | None:
    """A secret from the environment or from the file that the environment names; neither is ever shown."""
    if value := environment.get(PREFIX + name):
        return _one_line(PREFIX + name, value.strip())
    if file := environment.get(f"{PREFIX}{name}_FILE"):
        try:
            return _one_line(f"{PREFIX}{name}_FILE", Path(file).read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{PREFIX}{name}_FILE: cannot read {file}: {type(error).__name__}") from None
    return None


def _one_line(name: str, secret: str) -> str:
    """The secret, if an HTTP header can carry it; it is never shown."""
    if not secret or not all("!" <= letter <= "~" for letter in secret):
        raise UsageError(f"{name}: found what no header can carry; expected one line of visible ASCII characters")
    return secret


def _from_file(path: Path) -> Settings:
    try:
        text = path.read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput([_problem(path, None, str(error), "valid TOML", "Mend the syntax.")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {type(error).__name__}") from None
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name in _TABLES and isinstance(value, dict):
            values[name] = _read_table(path, text, name, value, problems)
        elif name in _TOP and isinstance(value, str):
            values[name] = _TOP[name](value)
        else:
            known = [*_TOP, *_TABLES]
            problems.append(
                _unknown(path, text, name, name, known) if name not in known else _wrong(path, text, name, value)
            )
    if problems:
        raise InvalidInput(problems)
    return Settings(**values, source=str(path))


def _read_table(path: Path, text: str, name: str, table: Mapping[str, Any], problems: list[Problem]) -> Any:
    kind = _TABLES[name]
    known = [each.name for each in fields(kind)]
    values: dict[str, Any] = {}
    for key, value in table.items():
        dotted = f"{name}.{key}"
        if key not in known:
            problems.append(_unknown(path, text, key, dotted, known))
        elif not isinstance(value, _KINDS[key]) or isinstance(value, bool):
            problems.append(_wrong(path, text, dotted, value))
        elif isinstance(value, int | float) and not _LEAST.get(key, 0) <= value < math.inf:
            expected = f"a number from {_LEAST.get(key, 0)} on"
            problems.append(_problem(path, _line(text, key), repr(value), expected, "Correct the value.", dotted))
        else:
            values[key] = Path(str(value)) if key in _PATHS else value
    opens, closes = values.get("opens", time(0, 0)), values.get("closes")
    if closes is not None and closes <= opens:
        expected = f"a time after {opens}, or no such key for 24:00"
        problems.append(_problem(path, _line(text, "closes"), str(closes), expected, "Correct it.", f"{name}.closes"))
    return kind(**values)


def _unknown(path: Path, text: str, key: str, dotted: str, known: list[str]) -> Problem:
    near = get_close_matches(key, known, 1)
    remedy = f"Did you mean {near[0]!r}?" if near else "Remove it."
    return _problem(path, _line(text, key), "an unknown key", f"one of {', '.join(sorted(known))}", remedy, dotted)


def _wrong(path: Path, text: str, dotted: str, value: object) -> Problem:
    key = dotted.rpartition(".")[2]
    kind = _KINDS.get(key, str)
    names = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
    return _problem(path, _line(text, key), type(value).__name__, names, "Correct the value.", dotted)


def _line(text: str, key: str) -> int | None:
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip().lstrip("[").split("=")[0].strip(" ]\"'")
        if bare.rpartition(".")[2] == key:
            return number
    return None


def _problem(
    path: Path, line: int | None, found: str, expected: str, remedy: str, field_name: str | None = None
) -> Problem:
    return Problem(file=str(path), line=line, field=field_name, found=found, expected=expected, remedy=remedy)
