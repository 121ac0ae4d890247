"""Releases between the studied ones start by the rules of their own source."""

from __future__ import annotations

import pytest

from cli.options.releases import recoverable_releases, studied_release
from reference.core.store.recovery.rules import RULES, Dispatch, RecoveryRules


def rules_for(text: str) -> RecoveryRules:
    """Return the rules that ``--release TEXT`` stands for."""
    return RULES[studied_release(text, recoverable_releases)]


@pytest.mark.parametrize(
    ("dispatch", "releases"),
    [
        (Dispatch.FROM_QUEUES, "4.5 4.6.1 4.7 4.8 4.8.0 4.9.0 4.9.1 4.9.5 4.9"),
        (Dispatch.NONE, "4.4 5.0 5.1.0 5.1.2 5.1.3 5.1 5.2 5.2.0 5.3.0 5.3.1"),
        (Dispatch.IN_THE_SCAN, "5.3.2 5.3 5.4 5.5"),
    ],
)
def test_dispatch_after_a_stop(dispatch: Dispatch, releases: str) -> None:
    for release in releases.split():
        rules = rules_for(release)
        assert (release, rules.dispatch) == (release, dispatch)
        assert rules.begins_by_queues == (dispatch is Dispatch.IN_THE_SCAN)


@pytest.mark.parametrize(
    ("rule", "before", "since"),
    [
        ("corrects_delay_offsets", "4.8 4.8.0 4.9.0 4.9.3", "4.9.4 4.9.5 4.9 5.0"),
        ("needs_index_files", "5.0.0", "5.1.0 5.1.1 5.2"),
        ("checks_room", "5.2 5.3.0 5.3.1", "5.3.2 5.3"),
    ],
)
def test_a_rule_begins_with_its_release(rule: str, before: str, since: str) -> None:
    for releases, value in ((before, False), (since, True)):
        for release in releases.split():
            found = getattr(rules_for(release), rule)
            assert (release, found) == (release, value)
