"""A society's folder: load, check, describe."""
