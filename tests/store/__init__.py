"""Tests of harness.store, on SQLite and on PostgreSQL."""
