"""
Each implementation of the functions that have a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from columns.tests.with_kernels import with_kernels


@pytest.fixture(scope="module", params=["fallbacks", "kernels"])
def each_implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test twice: with fallbacks only, and with kernels."""
    with with_kernels() if request.param == "kernels" else nullcontext():
        yield
