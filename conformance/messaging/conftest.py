"""What tests of messages share: a group that the broker has been told of."""

from __future__ import annotations

import pytest

from conformance.harness.speaker import Speaker, succeeded


@pytest.fixture
def known_group(broker: Speaker, group: str) -> str:
    """Return the name of a new group; 5.3 commits offsets only of such."""
    succeeded(broker.update_group(group=group))
    return group
