"""A gateway with other names needs configuration, not code."""

import json
from typing import Any

import pytest

from harness.gateway.answer import Answer, Question, Reason
from harness.gateway.body import read_body
from harness.gateway.mapping import RestMapping, read_mapping
from tests.gateway.servers import KEY, QUERY, QUESTION, ask, ask_and_see, replying

OTHER: dict[str, Any] = {
    "query_path": "/search/v2/{corpus}",
    "auth_header": "X-Api-Key",
    "auth_scheme": "",
    "question": "q",
    "max_tokens": "limit",
    "editions": "years",
    "passages": "data.hits[].source",
    "tokens_returned": "usage.total",
    "ledger_entry_id": "meta.call",
    "fields": {"section": "clause", "edition_year": "year"},
}
THEIRS = {
    "data": {"hits": [{"source": {"clause": "§1.2", "year": 2018, "citation": "[ACME P-100 §1.2]", "extra": 1}}]},
    "usage": {"total": 12},
    "meta": {"call": "c-17"},
}
MAPPING, _ = read_mapping(OTHER, "harness.toml")


def request_of(raw: bytes) -> tuple[str, dict[str, str], Any]:
    """A request's first line, its headers in lower case, and its JSON."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return first, {name.lower(): value for name, value in headers.items()}, json.loads(body)


def test_the_contract_is_the_default() -> None:
    _, (raw,) = ask_and_see(replying(b'{"passages": []}'))
    first, headers, body = request_of(raw)
    assert first == "POST /api/v1/corpora/acme-p100/query HTTP/1.1"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert headers["accept"] == "application/json"
    assert "cookie" not in headers
    assert body == {"question": QUERY, "max_tokens": 1200}


def test_editions_are_sent_as_strings_for_a_cross_edition_item() -> None:
    question = Question(
        corpus="a/b §c", society="ACME", query="\u00a7 5\u2013\u00a06?", max_tokens=7, editions=(2018, 2022)
    )
    _, (raw,) = ask_and_see(replying(b'{"passages": []}'), question)
    first, _, body = request_of(raw)
    assert first == "POST /api/v1/corpora/a%2Fb%20%C2%A7c/query HTTP/1.1"
    assert body == {"question": "\u00a7 5\u2013\u00a06?", "max_tokens": 7, "editions": ["2018", "2022"]}


def test_another_gateway_is_asked_and_read_by_its_names() -> None:
    question = Question(corpus="acme", society="ACME", query="a?", max_tokens=7, editions=(2018,))
    answer, (raw,) = ask_and_see(replying(json.dumps(THEIRS).encode()), question, mapping=MAPPING)
    first, headers, body = request_of(raw)
    assert first == "POST /search/v2/acme HTTP/1.1"
    assert headers["x-api-key"] == KEY
    assert "authorization" not in headers
    assert body == {"q": "a?", "limit": 7, "years": ["2018"]}
    assert answer.reason is None
    assert answer.passages == ({"section": "§1.2", "edition_year": 2018, "citation": "[ACME P-100 §1.2]", "extra": 1},)
    assert (answer.tokens_returned, answer.ledger_entry_id) == (12, "c-17")


@pytest.mark.parametrize(
    ("fields", "theirs", "ours"),
    [
        ({}, {"section": 1, "x": 2}, {"section": 1, "x": 2}),
        ({"section": "clause"}, {"clause": 1, "x": 2}, {"section": 1, "x": 2}),
        ({"section": "clause"}, {"x": 2}, {"x": 2}),  # absent there, absent here
        ({"section": "clause"}, {"clause": 1, "section": 3}, {"section": 1}),
        ({"section": "clause"}, {"section": 3}, {}),  # what they call section is not what we do
        ({"section": "clause"}, {"clause": None}, {"section": None}),
        ({"section": "standard", "standard": "section"}, {"section": 1, "standard": 2}, {"section": 2, "standard": 1}),
        ({"section": "id", "citation": "id"}, {"id": 1}, {"section": 1, "citation": 1}),
    ],
)
def test_renamed_fields(fields: dict[str, str], theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert RestMapping(fields=fields).passage(theirs) == ours


@pytest.mark.parametrize(
    ("passages", "body", "reason"),
    [
        ("data.hits", {"data": {"hits": [{}]}}, None),
        ("data.hits", {"data": None}, Reason.BAD_SHAPE),
        ("data.hits", {"data": {"hits": {}}}, Reason.BAD_SHAPE),
        ("data.hits[].source", {"data": {"hits": [{"source": 1}]}}, Reason.BAD_SHAPE),
        ("sort_by(hits, &rank)", {"hits": [{"rank": 2}, {"rank": 1}]}, None),
        ("sort_by(hits, &rank)", {"hits": [{"rank": 2}, {"rank": "1"}]}, Reason.BAD_SHAPE),  # cannot be sorted
        ("sort_by(hits, &rank)", {"hits": 7}, Reason.BAD_SHAPE),
    ],
)
def test_an_expression_that_does_not_fit_is_bad_shape(passages: str, body: Any, reason: Reason | None) -> None:
    mapping, problems = read_mapping({"passages": passages}, "harness.toml")
    assert problems == []
    assert ask(replying(json.dumps(body).encode()), mapping=mapping).reason is reason


@pytest.mark.parametrize(
    ("body", "tokens", "entry"),
    [
        ({"passages": [], "tokens_returned": 0, "ledger_entry_id": "le_1"}, 0, "le_1"),
        ({"passages": []}, None, None),
        ({"passages": [], "tokens_returned": -1, "ledger_entry_id": ""}, None, None),
        ({"passages": [], "tokens_returned": 1.0, "ledger_entry_id": 7}, None, None),
        ({"passages": [], "tokens_returned": True, "ledger_entry_id": "x" * 201}, None, None),
        ({"passages": [], "tokens_returned": "5", "ledger_entry_id": ["le_1"]}, None, None),
        ({"passages": 7, "tokens_returned": 5, "ledger_entry_id": "le_1"}, None, "le_1"),
    ],
)
def test_tokens_and_ledger_entry(body: Any, tokens: int | None, entry: str | None) -> None:
    answer = read_body(Answer(raw=json.dumps(body).encode()), RestMapping())
    assert (answer.tokens_returned, answer.ledger_entry_id) == (tokens, entry)


def test_passages_are_as_they_were_sent() -> None:
    """The scorer must see what was really there: unknown keys, wrong types and odd characters are kept."""
    sent = [
        {"citation": "[ACME\u00a0P 1]", "edition_year": "2018", "section_path": [1, "2", None], "more": {"a": [True]}}
    ]
    answer = ask(replying(json.dumps({"passages": sent}).encode()))
    assert json.dumps(answer.passages) == json.dumps(sent)
    assert answer.raw == json.dumps({"passages": sent}).encode()


def test_stored_bytes_give_the_answer_of_the_night() -> None:
    asked = ask(replying(json.dumps(THEIRS).encode()), QUESTION, mapping=MAPPING)
    again = read_body(Answer(raw=asked.raw), MAPPING)
    assert (again.passages, again.reason) == (asked.passages, asked.reason)
    assert (again.tokens_returned, again.ledger_entry_id) == (asked.tokens_returned, asked.ledger_entry_id)


def test_a_good_table_has_no_problems() -> None:
    mapping, problems = read_mapping(OTHER, "harness.toml")
    assert problems == []
    assert mapping == RestMapping(**OTHER)
    assert read_mapping({}, "harness.toml") == (RestMapping(), [])


def test_error_every_problem_of_the_table() -> None:
    table = {
        "pasages": "x",
        "zzz": 1,
        "question": 7,
        "max_tokens": "",
        "passages": "hits[",
        "query_path": "/search",
        "fields": {"sektion": "clause"},
        "auth_scheme": "",
    }
    mapping, problems = read_mapping(table, "harness.toml")
    known = (
        "query_path, auth_header, auth_scheme, question, max_tokens, editions, passages, tokens_returned, "
        "ledger_entry_id, fields"
    )
    assert [str(problem) for problem in problems] == [
        f"harness.toml: gateway.rest.pasages: found an unknown key; expected one of {known}. Did you mean 'passages'?",
        f"harness.toml: gateway.rest.zzz: found an unknown key; expected one of {known}. Remove it.",
        "harness.toml: gateway.rest.question: found int; expected a text, not empty. Correct the value.",
        "harness.toml: gateway.rest.max_tokens: found str; expected a text, not empty. Correct the value.",
        "harness.toml: gateway.rest.passages: found a text that is no JMESPath; expected a JMESPath expression."
        " Correct the expression.",
        "harness.toml: gateway.rest.query_path: found '/search'; expected a path such as"
        " /api/v1/corpora/{corpus}/query. Correct the path.",
        "harness.toml: gateway.rest.fields: found something else; expected a table from society, standard, section,"
        " edition_year, section_path, citation. Correct the table.",
    ]
    assert mapping == RestMapping(auth_scheme="")
