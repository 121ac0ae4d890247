"""
Tests that the default run leaves out, because they take long: ``tox -e slow``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(values: Iterable[object], *quick: object) -> list[Any]:
    """Return *values* as parameters, all marked slow except those of *quick*."""
    return [
        value if value in quick else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]
