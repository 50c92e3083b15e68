"""Asking: one client per transport, one retry layer, one response type."""
