"""A process that kills itself at its n-th call of the file system."""

import os
import signal
from collections.abc import Callable
from typing import Any

_CALLS = ("link", "fsync", "rmdir", "symlink", "replace", "rename", "unlink", "mkdir", "open")


def kill_at(number: int) -> None:
    """Let the `number`-th call from here on be the last thing that this process does not get to do."""
    made = 0

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal made
            made += 1
            if made == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return call

    for name in _CALLS:
        setattr(os, name, counting(getattr(os, name)))
