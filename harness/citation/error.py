"""Why a citation was refused: the place and what was expected there, without the text itself."""


class CitationError(ValueError):
    """A string or a field that the style cannot print.

    `position` is the 0-based index of the first offending code point, or None where a whole field was refused.
    The message never holds the refused text, which may be held out; only `diagram` draws it.
    """

    def __init__(self, text: str, position: int | None, expected: str, field: str = "citation") -> None:
        place = "" if position is None else f", character {position + 1}"
        super().__init__(f"{field}{place}: expected {expected}")
        self._text = text
        self.position = position
        self.expected = expected
        self.field = field

    def __reduce__(self) -> tuple[type["CitationError"], tuple[str, int | None, str, str]]:
        return type(self), (self._text, self.position, self.expected, self.field)

    def diagram(self) -> str:
        """The refused text on one line, a caret under the offending character, and what was expected there.

        Characters that would not take one column (controls, format characters) are drawn as `·`.
        """
        drawn = "".join(char if char.isprintable() else "·" for char in self._text)
        return f"{drawn}\n{' ' * (self.position or 0)}^ expected {self.expected}"
