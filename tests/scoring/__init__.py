"""Scoring: verdicts, measures, intervals, comparison, diagnosis."""
