"""Clauses, tests, sources and evidence agree."""
