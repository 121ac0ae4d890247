"""
Collection of tests: selection, order, and groups for the workers.

Begin with ``selection.py``.
"""
