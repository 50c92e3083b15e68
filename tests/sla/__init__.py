"""Terms, assessments, settlements and their ledger."""
