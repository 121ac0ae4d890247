"""
Starts on files that are damaged, missing, empty or wrongly named.

Begin with ``original.py``, the store of which each test damages a copy.
"""
