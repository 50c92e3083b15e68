"""A small real gateway for demos and tests."""
