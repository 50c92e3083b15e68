"""Reading, checking and describing a society's folder."""
