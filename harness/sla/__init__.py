"""Floors, assessments and settlements as a fold of events."""
