"""
Verdicts of tests about clauses, their text, and their record in the report.

Begin with ``verdict.py``.
"""
