"""
Feature programs of clients: one set for all adapters, and the recorded table.

Begin with ``features.py`` (expected outcomes), ``sends.py`` and ``consumes.py``.
"""
