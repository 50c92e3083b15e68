"""Alignment against trying every assignment (scoring.md, From an answer to verdicts, 4)."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.align import align

Matrix = list[list[int]]


def by_trying_all(points: Matrix) -> tuple[int | None, ...]:
    """The best assignment among all that align as many expectations as there are passages."""
    passages = len(points[0])
    places: list[int | None] = [*range(passages), *[None] * max(0, len(points) - passages)]

    def merit(chosen: tuple[int | None, ...]) -> tuple[int, list[int]]:
        total = sum(row[place] for row, place in zip(points, chosen, strict=True) if place is not None)
        return -total, [passages if place is None else place for place in chosen]

    best = min(permutations(places, len(points)), key=merit)
    return tuple(None if place is None else place + 1 for place in best)


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Up to 5 expectations by 5 passages with 0 to 6 true checks, often with ties."""
    passages = draw(st.integers(1, 5))
    points = st.integers(0, draw(st.sampled_from([1, 2, 6])))
    return draw(st.lists(st.lists(points, min_size=passages, max_size=passages), min_size=1, max_size=5))


@settings(max_examples=300, deadline=None)
@given(matrices())
def test_the_alignment_is_the_best_of_all_assignments(points: Matrix) -> None:
    assert align(points) == by_trying_all(points)


@pytest.mark.parametrize(
    ("points", "ranks"),
    [
        ([], ()),
        ([[]], (None,)),
        ([[], []], (None, None)),
        ([[0, 0]], (1,)),
        ([[3, 5, 5]], (2,)),
        ([[1], [6]], (None, 1)),
        ([[6], [6]], (1, None)),
        ([[0, 0], [0, 0]], (1, 2)),
        ([[6, 5], [5, 0]], (2, 1)),
        ([[6, 0, 0], [6, 0, 0], [6, 0, 0]], (1, 2, 3)),
    ],
)
def test_alignments_by_hand(points: Matrix, ranks: tuple[int | None, ...]) -> None:
    assert align(points) == ranks


def test_a_large_item_with_every_passage_wanted_by_all_is_aligned_in_order() -> None:
    assert align([[6] * 50 for _ in range(20)]) == tuple(range(1, 21))


@settings(deadline=None)
@given(st.permutations(range(12)))
def test_a_large_item_finds_the_one_perfect_assignment(order: list[int]) -> None:
    points = [[6 if place == wanted else 5 for place in range(12)] for wanted in order]
    assert align(points) == tuple(place + 1 for place in order)
