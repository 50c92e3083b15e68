"""A page as a tree of elements, read with the standard library's parser; badly nested markup is an error."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "input", "rect", "circle", "path", "line"}


@dataclass(kw_only=True)
class Element:
    tag: str
    attributes: dict[str, str]
    children: list["Element | str"] = field(default_factory=list)

    def text(self) -> str:
        """All text inside, white space folded."""
        parts = [child if isinstance(child, str) else child.text() for child in self.children]
        return " ".join("".join(f"{part} " if self.tag in ("tr", "dl") else part for part in parts).split())

    def walk(self) -> Iterator["Element"]:
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def find(self, tag: str, **attributes: str) -> list["Element"]:
        """Every element of that tag that has those attributes; a class is one of the words of `class_`."""
        return [
            element
            for element in self.walk()
            if element.tag == tag
            and all(
                value in element.attributes.get("class", "").split()
                if name == "class_"
                else element.attributes.get(name) == value
                for name, value in attributes.items()
            )
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element(tag="#page", attributes={})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag=tag, attributes={name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag=tag, attributes={name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(content: bytes) -> Element:
    """The page; every element that was opened is closed in order."""
    reader = _Reader()
    reader.feed(content.decode("utf-8"))
    reader.close()
    assert reader.open == [reader.root]
    return reader.root
