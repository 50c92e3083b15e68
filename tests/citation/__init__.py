"""Tests of the citation room."""
