"""Schema migrations, run by harness.store.migrate."""
