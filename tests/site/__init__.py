"""Tests of pages, twins and publishing."""
