"""
Probing of foreign targets: their release, and the requests that they refuse.

Begin with ``probe.py``.
"""
