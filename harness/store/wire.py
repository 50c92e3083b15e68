"""Values as JSON text in a column: field order of the class, fractions as exact text (`1/2`)."""

from fractions import Fraction
from typing import Any, Final

import msgspec

from harness.scoring.model import ItemScore, Measure
from harness.sla.model import Assessment


def _to_text(value: Any) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"no stored form for {type(value).__name__}")


def _from_text(kind: type, text: Any) -> Any:
    if kind is Fraction and isinstance(text, str):
        return Fraction(text)
    raise TypeError(f"no stored form for {kind.__name__}")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_to_text)


def encode(value: object) -> str:
    """One deterministic JSON text of a frozen dataclass."""
    return _ENCODER.encode(value).decode()


VERDICT: Final = msgspec.json.Decoder(ItemScore, dec_hook=_from_text)
MEASURE: Final = msgspec.json.Decoder(Measure, dec_hook=_from_text)
ASSESSMENT: Final = msgspec.json.Decoder(Assessment, dec_hook=_from_text)
