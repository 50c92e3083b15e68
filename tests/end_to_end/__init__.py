"""Whole nights with real processes, real HTTP and real kills."""
