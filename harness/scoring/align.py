"""Which passage answers which expectation (scoring.md, From an answer to verdicts, 4).

Exact and polynomial: both goals, most true checks and then the lexicographically smallest vector of ranks, are packed
into one integer per pair, and the minimum-cost assignment over those integers is found with the shortest augmenting
path form of the Hungarian method (Kuhn 1955; Jonker and Volgenant 1987), in O(expectations² x passages) steps.
"""

from collections.abc import Sequence


def align(points: Sequence[Sequence[int]]) -> tuple[int | None, ...]:
    """The 1-based rank aligned with each expectation, None where the passages do not suffice.

    `points[e][p]` is the number of true checks of passage `p` (in the order returned) for expectation `e`; all rows
    have one length. As many expectations are aligned as there are passages, also where no check is true.
    """
    if not points or not points[0]:
        return (None,) * len(points)
    if len(points) == 1:
        row = points[0]
        return (row.index(max(row)) + 1,)
    expectations, passages = len(points), len(points[0])
    columns = max(passages, expectations)
    # Digit `e` of a cost, in this base, is the rank given to expectation e; all columns beyond the last passage are
    # the same "unaligned" digit, above every rank. The total of true checks stands above all digits.
    base = passages + 2
    above = base**expectations
    costs = []
    for number, row in enumerate(points):
        digit = base ** (expectations - 1 - number)
        ranked = [(place + 1) * digit - row[place] * above for place in range(passages)]
        costs.append(ranked + [(passages + 1) * digit] * (columns - passages))
    return tuple(column + 1 if column < passages else None for column in _assign(costs))


def _assign(costs: list[list[int]]) -> list[int]:
    """The column of each row in an assignment of least total cost; there are at least as many columns as rows."""
    columns = len(costs[0])
    row_price = [0] * len(costs)
    column_price = [0] * columns
    owner: list[int | None] = [None] * columns
    for start in range(len(costs)):
        came_from, free = _shortest_path(costs, start, owner, row_price, column_price)
        column = free
        while True:
            row, before = came_from[column]
            owner[column] = row
            if before is None:
                break
            column = before
    assigned = [0] * len(costs)
    for column, row_or_none in enumerate(owner):
        if row_or_none is not None:
            assigned[row_or_none] = column
    return assigned


def _shortest_path(
    costs: list[list[int]], start: int, owner: list[int | None], row_price: list[int], column_price: list[int]
) -> tuple[list[tuple[int, int | None]], int]:
    """The cheapest alternating path from row `start` to an unowned column, and the prices updated in place.

    Returned per column: the row it is reached from and the column which that row gives up (None at the start).
    """
    columns = len(column_price)
    distance: list[int | None] = [None] * columns
    came_from: list[tuple[int, int | None]] = [(start, None)] * columns
    settled: list[int] = []
    unsettled = list(range(columns))
    row, given_up, travelled = start, None, 0
    while True:
        base = travelled - row_price[row]
        nearest, least = -1, 0
        for column in unsettled:
            reached = base + costs[row][column] - column_price[column]
            known = distance[column]
            if known is None or reached < known:
                distance[column] = known = reached
                came_from[column] = (row, given_up)
            if nearest < 0 or known < least:
                nearest, least = column, known
        travelled = least
        unsettled.remove(nearest)
        owned_by = owner[nearest]
        if owned_by is None:
            break
        settled.append(nearest)
        row, given_up = owned_by, nearest
    row_price[start] += travelled
    for column in settled:
        known = distance[column]
        price = travelled - (known if known is not None else travelled)
        column_price[column] -= price
        holder = owner[column]
        if holder is not None:
            row_price[holder] += price
    return came_from, nearest
