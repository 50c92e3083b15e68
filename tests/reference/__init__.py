"""The reference gateway: search, faults, ledger, over real HTTP on loopback."""
