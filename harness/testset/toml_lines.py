"""Line numbers of the keys of a TOML text; the standard library's reader gives none.

The text has been accepted by tomllib, so the scanner only finds places and does not judge syntax.
"""

import re
import tomllib
from dataclasses import dataclass, field
from typing import Final

KeyPath = tuple[str | int, ...]
"""Where a value stands in the table: keys, and 0-based positions in arrays."""

_FILLER: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'",
    re.S,
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"[^,\]}#\n]*")


def key_lines(text: str) -> dict[KeyPath, int]:
    """The 1-based line of each key, table header and array element of a valid TOML text.

    Raises RecursionError where values are nested deeper than Python reads, as tomllib does.
    """
    return _Scanner(text).scan()


@dataclass(slots=True)
class _Scanner:
    text: str
    position: int = 0
    lines: dict[KeyPath, int] = field(default_factory=dict)
    array_lengths: dict[KeyPath, int] = field(default_factory=dict)
    counted_to: int = 0
    line: int = 1

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip_filler()
        while self.position < len(self.text):
            if self.text[self.position] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip_filler()
        return self.lines

    def _header(self) -> KeyPath:
        is_array = self.text.startswith("[[", self.position)
        start = self.position
        self.position += 2 if is_array else 1
        keys = self._key()
        self.position += 2 if is_array else 1
        path: KeyPath = ()
        for depth, key in enumerate(keys, 1):
            path = (*path, key)
            self._mark(path, start)
            if depth < len(keys) and path in self.array_lengths:
                path = (*path, self.array_lengths[path] - 1)
        if is_array:
            index = self.array_lengths.get(path, 0)
            self.array_lengths[path] = index + 1
            path = (*path, index)
            self._mark(path, start)
        return path

    def _pair(self, table: KeyPath) -> None:
        start = self.position
        path = table
        for key in self._key():
            path = (*path, key)
            self._mark(path, start)
        self.position += 1  # the equals sign
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip_filler()
        opening = self.text[self.position]
        if opening == "[":
            self._elements(path)
        elif opening == "{":
            self._inline_pairs(path)
        elif opening in "\"'":
            self._string()
        else:
            scalar = _SCALAR.match(self.text, self.position)
            assert scalar is not None  # noqa: S101 - the pattern matches the empty text
            self.position = scalar.end()

    def _elements(self, path: KeyPath) -> None:
        self.position += 1
        index = 0
        while not self._closes("]"):
            self._mark((*path, index), self.position)
            self._value((*path, index))
            index += 1

    def _inline_pairs(self, path: KeyPath) -> None:
        self.position += 1
        while not self._closes("}"):
            self._pair(path)

    def _closes(self, bracket: str) -> bool:
        """Step over filler and a comma; at the bracket step over it and say so."""
        self._skip_filler()
        if self.text[self.position] == ",":
            self.position += 1
            self._skip_filler()
        if self.text[self.position] != bracket:
            return False
        self.position += 1
        return True

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip_filler()
            bare = _BARE.match(self.text, self.position)
            if bare:
                self.position = bare.end()
                parts.append(bare[0])
            else:
                parts.append(self._string())
            self._skip_filler()
            if self.text[self.position] != ".":
                return parts
            self.position += 1

    def _string(self) -> str:
        """Step over a string; the value of one that stands as a key, where it is on one line."""
        found = _STRING.match(self.text, self.position)
        if found is None:
            raise ValueError(f"no string at character {self.position}")
        self.position = found.end()
        literal = found[0]
        if literal.startswith(('"""', "'''")) or literal[0] == "'":
            return literal.strip("'")
        return str(tomllib.loads(f"key = {literal}")["key"]) if "\\" in literal else literal[1:-1]

    def _skip_filler(self) -> None:
        filler = _FILLER.match(self.text, self.position)
        assert filler is not None  # noqa: S101 - the pattern matches the empty text
        self.position = filler.end()

    def _mark(self, path: KeyPath, position: int) -> None:
        if path not in self.lines:
            if position < self.counted_to:
                self.line -= self.text.count("\n", position, self.counted_to)
            else:
                self.line += self.text.count("\n", self.counted_to, position)
            self.counted_to = position
            self.lines[path] = self.line
