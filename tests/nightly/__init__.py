"""Tests of harness.nightly."""
