"""Pure scoring: align, check, measure; diagnosis apart."""
