"""The folders that a night can use: valid, and without an edit of terms that earlier nights have used."""

from harness.errors import InvalidInput
from harness.nightly.assess import frozen_terms_problems
from harness.nightly.sitting import Workplace
from harness.store.terms import renew_terms
from harness.testset.model import Society
from harness.testset.society import load_societies


def valid_societies(place: Workplace, only: tuple[str, ...] | None) -> tuple[list[Society], dict[str, InvalidInput]]:
    """The asked-for societies whose folders are valid and whose used terms were not edited, and the others' problems.

    What the valid ones now say of terms in use is kept. Raises InvalidInput with all problems where none is valid.
    """
    societies, invalid = checked_societies(place, only)
    if not societies:
        raise InvalidInput(problem for error in invalid.values() for problem in error.problems)
    return societies, invalid


def checked_societies(place: Workplace, only: tuple[str, ...] | None) -> tuple[list[Society], dict[str, InvalidInput]]:
    """As `valid_societies`, also where none is."""
    loaded, invalid = load_societies(place.testsets, only)
    societies = []
    for society in loaded:
        folder = place.testsets / society.slug
        if problems := frozen_terms_problems(place.engine, society, folder / "terms.toml"):
            invalid[society.slug] = InvalidInput(problems)
        else:
            renew_terms(place.engine, society.slug, society.id, society.terms)
            societies.append(society)
    return societies, invalid
