"""The read API over the settlement ledger."""
