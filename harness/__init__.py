"""Nightly evaluation of a standards gateway's citations: ask, score, assess, publish."""

__version__ = "0.1.0"
