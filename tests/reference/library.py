"""Two made-up societies for the reference gateway, and a caller of it that shares no code with our client."""

import http.client
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from harness.reference.server import ReferenceSettings, running_gateway

KEY: Final = "key-of-the-tests"
DATE: Final = "2026-03-01"

ACME: Final = """
id = "ACME"
slug = "acme"
name = "Association of Careful Mechanical Engineers"
testset = { version = "1", sha256 = "0000000000000000000000000000000000000000000000000000000000000000" }
[corpora]
"acme-p100" = ["P-100"]
"acme-q7" = ["Q7"]
[style]
format = "[{society} {standard}:{edition_year} {section}]"
[style.words]
section = "§"
table = "Table "
[style.standards."P-100"]
editions = [2018, 2022]
[style.standards."Q7"]
editions = [2001, 2005]
"""
BOLT: Final = """
id = "BOLT"
slug = "bolt"
name = "Bolting Organisation"
testset = { version = "1", sha256 = "0000000000000000000000000000000000000000000000000000000000000000" }
[corpora]
"bolt-9" = ["9"]
[style]
[style.words]
section = "§"
[style.standards."9"]
editions = []
"""
TERMS: Final = """
[[terms]]
version = 1
effective_from = 2026-01-01
effective_to = 2026-12-31
editions = { "P-100" = [2018] }
min_sample = 1
floors = []

[[terms]]
version = 2
effective_from = 2027-01-01
editions = { "P-100" = [2022] }
min_sample = 1
floors = []
"""
CANARY: Final = "HELD-OUT-TEST-CANARY-0002"

P100: Final = (
    ("P-100", 2018, "§1.2", "Wall thickness of straight pipe under pressure."),
    ("P-100", 2018, "§1.3", "Wall thickness of curved pipe, bends and elbows."),
    ("P-100", 2018, "§1.3.1", "Ovality of bends after forming."),
    ("P-100", 2018, "Table 1-1", "Quality factors of castings and forgings."),
    ("P-100", 2022, "§1.2", "Wall thickness of straight pipe under pressure, with creep."),
    ("P-100", 2022, "§1.4", "Creep wall thickness of pipe in new clauses."),
    ("Q7", 2001, "§5", "Earth cover over buried conduits."),
    ("Q7", 2005, "§5", "Earth cover over buried conduits, with traffic."),
)
NINE: Final = (
    ("9", None, "§1", "Torque of a bolt in a pipe flange, for wall thickness of the gasket."),
    ("9", None, "§2.1", "Preload of bolts."),
    ("9", None, "§2.2", "Relaxation of bolts."),
)
Row = tuple[str, int | None, str, str]


def path_of(section: str) -> list[str]:
    """The section path, computed the plain way."""
    words = section.removeprefix("§").removeprefix("Table ")
    return (["table"] if section.startswith("Table") else []) + words.split(".")


def write_folder(root: Path, society: str, rows: tuple[Row, ...], terms: str | None = None) -> Path:
    """A society's folder with only what the reference gateway reads."""
    table = tomllib.loads(society)
    folder: Path = root / table["slug"]
    folder.mkdir(parents=True)
    (folder / "society.toml").write_text(society, encoding="utf-8")
    if terms is not None:
        (folder / "terms.toml").write_text(terms, encoding="utf-8")
    lines = [
        {
            "society": table["id"],
            "standard": standard,
            "edition_year": year,
            "section": section,
            "section_path": path_of(section),
            "text": text,
            "canary": CANARY,
        }
        for standard, year, section, text in rows
    ]
    (folder / "corpus.jsonl").write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8"
    )
    return folder


def write_library(root: Path) -> Path:
    """Both societies; ACME's terms pin P-100 of 2018 on the tests' date, BOLT has no terms."""
    write_folder(root, ACME, P100, TERMS)
    write_folder(root, BOLT, NINE)
    return root


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back, raw."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def citations(self) -> list[str]:
        return [passage["citation"] for passage in self.json["passages"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Calls a gateway with one key; every call on a connection of its own."""

    url: str
    key: str | None = field(default=KEY, repr=False)

    def call(self, method: str, path: str, body: Any = None) -> Response:
        """One request; `body` bytes go as they are, anything else as JSON."""
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0, timeout=30)
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, body=content, headers=headers)
            got = connection.getresponse()
            lowered = {name.lower(): value for name, value in got.getheaders()}
            return Response(status=got.status, headers=lowered, raw=got.read())
        finally:
            connection.close()

    def query(self, question: str, corpus: str = "acme-p100", **members: Any) -> Response:
        return self.call("POST", f"/api/v1/corpora/{corpus}/query", {"question": question} | members)


@contextmanager
def gateway(root: Path, **settings: Any) -> Iterator[Caller]:
    """A running gateway over both societies in `root`, which is filled if it is empty."""
    if not any(root.iterdir()):
        write_library(root)
    defaults: dict[str, Any] = {"testsets": root, "keys": {KEY: None}}
    with running_gateway(ReferenceSettings(**defaults | settings)) as url:
        yield Caller(url=url)
