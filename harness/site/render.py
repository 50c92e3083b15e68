"""Templates rendered with everything escaped: what comes from outside is text, never markup (publishing.md)."""

from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_HERE: Final = Path(__file__).parent


def render(template: str, **values: object) -> str:
    """The template's text. Raises jinja2.UndefinedError for a value that it names and is not given."""
    return _environment().get_template(template).render(values)


@cache
def static_file(name: str) -> bytes:
    """A file of the site's look, as it is served."""
    return (_HERE / "static" / name).read_bytes()


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
