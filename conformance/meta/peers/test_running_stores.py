"""Clauses about stored records and files run on a cluster that the suite did not start.

The records come from the broker itself, the files from a directory that the text of the
target states.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.child_run.child_run import run_child
from conformance.harness.targets.target import Capability, TargetError, parse_target

FILES = Path(__file__).parents[2] / "store" / "files"


def outcomes(target: str, cluster: str, *options: str) -> dict[str, str]:
    """Return the outcomes of clauses on the running *cluster*, by the text *target*."""
    with parse_target(cluster) as started:
        text = target.format(namesrv=started.namesrv, store=started.store_path)
        tests = [FILES / "test_records.py", FILES / "test_store_names.py"]
        ended = run_child(tests, f"--target={text}", *options)
    return {name: str(outcome) for name, outcome in ended.outcomes.items()}


@pytest.mark.parametrize(
    ("cluster", "found"),
    [("embedded:", "pass"), ("mutant:born_host_is_the_brokers", "fail")],
)
def test_records_are_requested_from_the_broker(cluster: str, found: str) -> None:
    seen = outcomes("{namesrv}", cluster, "--may-configure")
    assert (seen["STORE-RECORD-012"], seen["STORE-RECORD-011"]) == (found, "pass")
    assert seen["STORE-NAME-009"] == "unsupported"


def test_nothing_is_written_without_permission() -> None:
    seen = outcomes("{namesrv}", "embedded:")
    assert set(seen.values()) == {"unsupported"}


def test_files_are_read_where_the_target_names_the_store() -> None:
    seen = outcomes("{namesrv}?store={store}", "embedded:", "--may-configure")
    assert (seen["STORE-NAME-009"], seen["STORE-CONFIG-012"]) == ("pass", "pass")
    assert seen["STORE-NAME-008"] == "unsupported", "an old log begins elsewhere"


def test_a_stated_store_has_to_be_a_directory(tmp_path: Path) -> None:
    assert Capability.STORE in parse_target("127.0.0.1:1?store=/").capabilities
    with parse_target("embedded:") as started:
        named = parse_target(f"{started.namesrv}?store={tmp_path / 'none'}")
        with pytest.raises(TargetError, match=r"no directory .*/none"):
            named.start()
