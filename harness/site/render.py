"""Templates rendered with everything escaped: what comes from outside is text, never markup (publishing.md)."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.site.text import visible

_HERE: Final = Path(__file__).parent


def render(template: str, **values: object) -> str:
    """The template's text. Raises jinja2.UndefinedError for a value that it names and is not given."""
    return _environment().get_template(template).render(values)


def generate(template: str, **values: object) -> Iterator[str]:
    """The template's text in pieces, each made when the one before is taken. Raises as `render` does."""
    return _environment().get_template(template).generate(values)


@cache
def static_file(name: str) -> bytes:
    """A file of the site's look, as it is served."""
    return (_HERE / "static" / name).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    return environment
