"""Citations v1 parts: made, checked, re-run."""
