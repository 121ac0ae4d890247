"""
Plugin of pytest: options, selection, fixtures, expectations, verdicts and their record.

Begin with ``plugin.py``, the hooks; suites import ``expectations.py`` and use the
fixtures of ``fixtures.py``.
"""
