"""
Failures: the text of an unmet clause, its evidence, captures and counterexamples.

Begin with ``failure.py``.
"""
