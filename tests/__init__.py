"""Tests, in the same rooms as harness/."""
