"""Commands that read or write store directories, without a broker.

Begin with ``audit.py`` or ``inspect.py``.
"""
