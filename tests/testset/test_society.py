"""society.toml and the folder as a whole: every defect with its whole text; which societies a night gets."""

from pathlib import Path

import pytest

from harness.errors import InvalidInput, UsageError
from harness.testset.model import Society
from harness.testset.society import largest_plan, load_societies, load_society
from tests.shared import TESTSETS
from tests.testset.folder import CANARY, SOCIETY, TERMS, Content, item, refusals, write_society

SLUG = "expected 1 to 64 characters a-z, 0-9 and '-', first and last no '-'. Rename the folder and the slug."
CARRY = "Put the folder's canary there: the one string that every file of it carries."

DEFECTS: dict[str, tuple[tuple[tuple[str, str], ...], list[str]]] = {
    "slug of another folder": (
        (('slug = "acme"', 'slug = "acne"'),),
        ["3: slug: found 'acne' in the folder 'acme'; expected the name of the folder. Rename one of the two."],
    ),
    "slug that climbs": ((('slug = "acme"', 'slug = "../x"'),), [f"3: slug: found '../x'; {SLUG}"]),
    "slug of 200 characters": (
        (('slug = "acme"', f'slug = "{"a" * 200}"'),),
        [f"3: slug: found a string of 200 characters; {SLUG}"],
    ),
    "unknown key": (
        (("name =", "nmae ="),),
        [
            "1: name: found nothing; expected a name on one line. Add name.",
            "4: nmae: found an unknown key; expected one of id, slug, name, catalogue_complete, testset, "
            "corpora, style, "
            "examples, refused. Did you mean 'name'?",
        ],
    ),
    "flag in quotes": (
        (("catalogue_complete = true", 'catalogue_complete = "yes"'),),
        ["5: catalogue_complete: found 'yes'; expected true or false. Write true or false without quotes."],
    ),
    "version as a number": (
        (('version = "1"', "version = 1"),),
        [
            "6: testset.version: found 1; expected 1 to 64 characters A-Z, a-z, 0-9, '.', '_', '-' in quotes. "
            'Write it like "1".'
        ],
    ),
    "no digest": (
        ((', sha256 = "SHA256"', ""),),
        [
            "6: testset.sha256: found nothing; expected 64 hexadecimal digits in lower case. Add sha256.",
        ],
    ),
    "corpora of unknown and of shared standards": (
        (('["Q7"]', '["Q8", "P100"]'),),
        [
            "10: corpora.acme-q7: found 'Q8'; expected standards that the style lists. "
            'Add [style.standards."Q8"] or take it out.',
            "10: corpora.acme-q7: found 'P100', which 'acme-p100' holds too; expected each standard in one corpus. "
            "Take it out of one of them.",
        ],
    ),
    "corpus that leaves its address": (
        (('"acme-q7"', '"../acme-q7"'),),
        [
            "10: corpora.../acme-q7: found a corpus id that cannot stand in an address; expected 1 to 128 characters "
            "A-Z, a-z, 0-9, '.', '_', '~', '-', the first no '.'. Write the id that the gateway lists.",
        ],
    ),
    "style": (
        (("[style.words]", 'containment = "volume"\n[style.words]'),),
        [
            "15: style.containment: found 'volume'; expected one of path, article, leading_digits. Name one of them.",
        ],
    ),
    "example with other fields": (
        (('section_path = ["1", "2"]', 'section_path = ["1", "3"]'),),
        ["29: examples[0].section_path: found ('1', '3'); expected ('1', '2'), as the string parses. Make them agree."],
    ),
    "example that is refused": (
        (('citation = "[ACME P100 §1.2]"', 'citation = "[ACME P100 1.2]"'),),
        [
            "26: examples[0].citation: found '[ACME P100 1.2]', refused at character 12; expected a section as the "
            "style writes it. Mend the example or the style."
        ],
    ),
    "refused that is accepted": (
        (('citation = "[ACME P100 § 1.2]"', 'citation = "[ACME P100 §1.2]"'),),
        [
            "32: refused[0].citation: found '[ACME P100 §1.2]', which the style accepts; expected a string that the "
            "style refuses. Take it out, or narrow the style."
        ],
    ),
    "no canary": ((("# " + CANARY, "#"),), [f" found no canary; expected the folder's canary in a comment. {CARRY}"]),
    "no TOML": (
        (("[corpora]", "[corpora"),),
        [
            "8: found text that is not TOML (Expected ']' at the end of a table declaration at column 9); "
            "expected TOML 1.0. Mend the syntax there."
        ],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), DEFECTS.values(), ids=DEFECTS)
def test_error_of_society_toml(tmp_path: Path, changes: tuple[tuple[str, str], ...], expected: list[str]) -> None:
    society = SOCIETY
    for old, new in changes:
        assert old in society
        society = society.replace(old, new, 1)
    folder = write_society(tmp_path, society=society)
    assert refusals(folder) == [f"acme/society.toml:{line}" for line in expected]


def test_error_of_every_file_comes_at_once(tmp_path: Path) -> None:
    folder = write_society(
        tmp_path,
        society=SOCIETY.replace("name =", "nmae ="),
        terms=TERMS.replace("top_k = 5", "top_k = 0"),
        items=[item(1, query=""), item(2)],
        catalogue="{}\n",
    )
    files = [message.split(":")[0] for message in refusals(folder)]
    assert list(dict.fromkeys(files)) == [
        "acme/society.toml",
        "acme/terms.toml",
        "acme/items.jsonl",
        "acme/catalogue.jsonl",
    ]


def test_error_folder_that_is_not_there(tmp_path: Path) -> None:
    gone = "found no such file; expected a readable file. Add the file or mend its permissions."
    assert refusals(tmp_path / "acme") == [f"acme/society.toml: {gone}", f"acme/items.jsonl: {gone}"]


def test_error_complete_catalogue_that_is_not_there(tmp_path: Path) -> None:
    assert refusals(write_society(tmp_path, catalogue=None)) == [
        "acme/catalogue.jsonl: found no such file; expected a readable file. Add the file or mend its permissions."
    ]


def test_society_as_read(tmp_path: Path) -> None:
    society = load_society(write_society(tmp_path))
    assert (society.id, society.slug, society.testset_version) == ("ACME", "acme", "1")
    assert society.corpora == {"acme-p100": ("P100",), "acme-q7": ("Q7",)}
    assert society.canary == CANARY
    assert society.catalogue is not None
    assert ("Q7", None, "§5") in society.catalogue


@pytest.mark.parametrize(
    ("parts", "terms", "has_catalogue"),
    [
        ({"terms": None}, 0, True),
        ({"catalogue": None, "society": SOCIETY.replace("complete = true", "complete = false")}, 1, False),
        ({"society": SOCIETY.replace("complete = true", "complete = false")}, 1, False),
        ({"corpus": None, "changes": None, "sources": None}, 1, True),
    ],
    ids=["no terms", "no catalogue", "catalogue with gaps", "no notes"],
)
def test_files_that_may_be_left_out(tmp_path: Path, parts: dict[str, Content], terms: int, has_catalogue: bool) -> None:
    society = load_society(write_society(tmp_path, **parts))
    assert len(society.terms) == terms
    assert (society.catalogue is not None) is has_catalogue


def slugs(societies: list[Society]) -> list[str]:
    return [society.slug for society in societies]


def test_invalid_folder_is_left_out_and_the_others_load(tmp_path: Path) -> None:
    write_society(tmp_path, "two")
    write_society(tmp_path, "one")
    write_society(tmp_path, "bad", terms=TERMS.replace('"0.95"', "0.95"))
    write_society(tmp_path, "a" * 200)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "README.md").write_text("no folder")
    societies, invalid = load_societies(tmp_path)
    assert slugs(societies) == ["one", "two"]
    assert sorted(invalid) == ["a" * 200, "bad"]
    assert [problem.line for problem in invalid["bad"].problems] == [18, 21]
    assert str(invalid["bad"]) == "\n".join(str(problem) for problem in invalid["bad"].problems)


def test_only_the_asked_societies_are_read(tmp_path: Path) -> None:
    write_society(tmp_path, "one")
    write_society(tmp_path, "two", society=b"\xff")
    assert slugs(load_societies(tmp_path, ("one",))[0]) == ["one"]
    assert load_societies(tmp_path, ("one",))[1] == {}


@pytest.mark.parametrize(
    ("asked", "named"),
    [(("one", "tow"), "'tow'"), (("../one",), "'../one'"), (("x" * 200,), f"'{'x' * 80}'"), (("ONE", ""), "'ONE', ''")],
)
def test_error_unknown_society(tmp_path: Path, asked: tuple[str, ...], named: str) -> None:
    write_society(tmp_path, "one")
    write_society(tmp_path, "two")
    with pytest.raises(UsageError) as caught:
        load_societies(tmp_path, asked)
    assert str(caught.value) == f"no society {named} in {tmp_path}; it has one, two."


def test_error_no_society_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_societies(tmp_path)
    assert str(caught.value) == f"{tmp_path}: no society in it; each is a folder with a society.toml."
    with pytest.raises(UsageError) as caught:
        load_societies(tmp_path / "gone")
    assert str(caught.value) == f"{tmp_path}/gone: no readable folder of societies (No such file or directory)."


def test_exit_code_of_both_refusals_is_2() -> None:
    assert (UsageError.exit_code, InvalidInput.exit_code) == (2, 2)


@pytest.mark.parametrize(
    ("dates", "planned"),
    [
        ([(None, None), (None, None)], 2),
        ([("2026-03-01", None), (None, "2026-03-01")], 1),
        ([("2026-03-01", None), (None, "2026-03-02")], 2),
        ([("2027-01-01", None), (None, "2026-01-01")], 0),
        ([("2026-12-31", None), (None, "9999-12-31")], 2),
        ([("2025-01-01", "2026-01-02"), ("2026-01-02", None)], 1),
    ],
)
def test_largest_plan_within_the_terms(
    tmp_path: Path, dates: list[tuple[str | None, str | None]], planned: int
) -> None:
    rows = [item(n, added=added, retired=retired) for n, (added, retired) in enumerate(dates, 1)]
    spare = write_society(tmp_path, items=rows, terms=None)
    terms = load_society(write_society(tmp_path / "terms")).terms[0]
    assert largest_plan(load_society(spare).items, terms) == planned


def test_shipped_societies_are_valid() -> None:
    societies, invalid = load_societies(TESTSETS)
    assert {slug: str(error) for slug, error in invalid.items()} == {}
    assert slugs(societies) == ["aci", "asce", "asme", "awwa", "icc", "nfpa", "sae"]
