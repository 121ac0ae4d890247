"""
Baseline of a target: requests in their simplest form, checked before the first test.

Begin with ``baseline.py``.
"""
