"""Processes of their own that do the same thing to one database at the same moment."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import TypeVar

T = TypeVar("T")

_BARRIER: list[Barrier] = []


def at_once(count: int, act: Callable[[str, int], T], url: str) -> list[T]:
    """`act(url, number)` in `count` processes that wait for each other first; what each returned, by number."""
    context = get_context("spawn")
    barrier = context.Barrier(count)
    with ProcessPoolExecutor(count, mp_context=context, initializer=_keep, initargs=(barrier,)) as pool:
        futures = [pool.submit(_wait_and_act, act, url, number) for number in range(count)]
        return [future.result(timeout=60) for future in futures]


def _keep(barrier: Barrier) -> None:
    _BARRIER.append(barrier)


def _wait_and_act(act: Callable[[str, int], T], url: str, number: int) -> T:
    _BARRIER[0].wait(timeout=60)
    return act(url, number)
