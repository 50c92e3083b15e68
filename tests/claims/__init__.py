"""Claim parts: made, checked, and re-run from their tables."""
