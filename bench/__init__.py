"""Measurements: ratios against the real thing, taken in one run."""
