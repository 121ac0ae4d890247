"""
Runs of the suites in child processes, which examine the suites themselves.

Begin with ``child_run.py``.
"""
