"""Tests without a verdict: refused preconditions, and targets that broke.

Begin at `preconditions`; `guard` checks the target's health between tests.
"""
