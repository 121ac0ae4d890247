"""
Work on stores: audits, dumps, recovery of a copy, salvage.

Begin with ``audits.py``, the loop of ``rmqc audit``, or ``salvage_store.py``.
"""
