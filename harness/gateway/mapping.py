"""What a gateway calls its paths, fields and header: defaults of the public contract, changed by configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Final
from urllib.parse import quote

import jmespath
from jmespath.exceptions import JMESPathError

from harness.citation.model import FIELDS
from harness.errors import Problem
from harness.gateway.answer import Question

_RESPONSE: Final = ("passages", "tokens_returned", "ledger_entry_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestMapping:
    """`[gateway.rest]` of harness.toml.

    `passages`, `tokens_returned` and `ledger_entry_id` are JMESPath expressions over the response; `fields` renames a
    passage's keys (our name to theirs). `auth_scheme` may be empty: the key then stands alone in the header.
    """

    query_path: str = "/api/v1/corpora/{corpus}/query"
    auth_header: str = "Authorization"
    auth_scheme: str = "Bearer"
    question: str = "question"
    max_tokens: str = "max_tokens"
    editions: str = "editions"
    passages: str = "passages"
    tokens_returned: str = "tokens_returned"
    ledger_entry_id: str = "ledger_entry_id"
    fields: Mapping[str, str] = field(default_factory=dict)

    def path(self, question: Question) -> str:
        """The call's path below the gateway's base URL."""
        return self.query_path.replace("{corpus}", quote(question.corpus, safe=""))

    def body(self, question: Question) -> dict[str, Any]:
        """The request's JSON; editions go as strings and only for a cross-edition item."""
        body: dict[str, Any] = {self.question: question.query, self.max_tokens: question.max_tokens}
        if question.editions is not None:
            body[self.editions] = [str(year) for year in question.editions]
        return body

    def find(self, name: str, response: Mapping[str, Any]) -> Any:
        """`passages`, `tokens_returned` or `ledger_entry_id` of a response; None where it is not there."""
        expression: str = getattr(self, name)
        if expression == name:  # the contract's own name: no need to interpret it
            return response.get(name)
        try:
            return jmespath.search(expression, response)
        except JMESPathError:  # a function met a value of a kind that it does not take
            return None

    def passage(self, theirs: Mapping[str, Any]) -> Mapping[str, Any]:
        """A passage under our names; keys that the mapping does not speak of stay as they are."""
        if not self.fields:
            return theirs
        spoken_of = {*self.fields, *self.fields.values()}
        ours = {name: value for name, value in theirs.items() if name not in spoken_of}
        return ours | {name: theirs[key] for name, key in self.fields.items() if key in theirs}


def read_mapping(table: Mapping[str, Any], file: str) -> tuple[RestMapping, list[Problem]]:
    """The mapping of a `[gateway.rest]` table, and everything that is wrong with it."""
    known = [each.name for each in fields(RestMapping)]
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for key, value in table.items():
        if fault := _fault(key, value, known):
            found, expected, remedy = fault
            problems.append(
                Problem(file=file, field=f"gateway.rest.{key}", found=found, expected=expected, remedy=remedy)
            )
        else:
            values[key] = value
    return RestMapping(**values), problems


def _fault(key: str, value: Any, known: list[str]) -> tuple[str, str, str] | None:
    if key not in known:
        near = get_close_matches(key, known, 1)
        return "an unknown key", f"one of {', '.join(known)}", f"Did you mean {near[0]!r}?" if near else "Remove it."
    if key == "fields":
        known_fields = isinstance(value, dict) and all(
            name in FIELDS and isinstance(theirs, str) for name, theirs in value.items()
        )
        return None if known_fields else ("something else", f"a table from {', '.join(FIELDS)}", "Correct the table.")
    if not isinstance(value, str) or (not value and key != "auth_scheme"):
        return type(value).__name__, "a text, not empty", "Correct the value."
    if key in _RESPONSE:
        try:
            jmespath.compile(value)
        except JMESPathError:
            return "a text that is no JMESPath", "a JMESPath expression", "Correct the expression."
    if key == "query_path" and ("{corpus}" not in value or not value.startswith("/")):
        return repr(value), "a path such as /api/v1/corpora/{corpus}/query", "Correct the path."
    return None
