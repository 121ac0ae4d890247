"""Commands about targets, clauses, and the runs and reports of the suites.

Begin with ``test.py``, which is ``rmqc test``.
"""
