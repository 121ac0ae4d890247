"""
Evidence: recorded outcomes of real releases, and a run's differences from them.

Begin with ``evidence.py``.
"""
