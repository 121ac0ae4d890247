"""
Runs of the suites: one target, several, releases in turn, and their progress.

Begin with ``pytest_run.py``.
"""
