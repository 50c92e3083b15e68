"""Asking: the REST client against servers of every kind, the retry layer, the pacer."""
