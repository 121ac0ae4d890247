"""A machine whose target refuses its topic leaves no connection open."""

from __future__ import annotations

from unittest import mock

import pytest

from conformance.harness.targets.target import Target
from conformance.messaging.pop import test_pop_machine as pops
from conformance.messaging.pop.pop_group import Revival


def test_a_machine_without_a_topic_opens_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = mock.create_autospec(Target, instance=True)
    refusal = mock.Mock(side_effect=pytest.skip.Exception("refused"))
    monkeypatch.setattr(pops, "create_topic", refusal)
    with pytest.raises(pytest.skip.Exception):
        pops.PopMachine(target, Revival())
    target.connect_to_broker.assert_not_called()
