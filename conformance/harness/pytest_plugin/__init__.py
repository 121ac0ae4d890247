"""
Plugin of pytest: options, selection, fixtures, expectations, verdicts and their record.

Begin with ``plugin.py``, the hooks, and `collection` and `verdicts`, which they call.
Suites import ``expectations.py`` and use the fixtures of ``fixtures.py``.
"""

import pytest

# Before the plugin imports its modules: failed assertions of helpers show their values.
pytest.register_assert_rewrite("conformance")
