"""
Wrong values of all members of configuration files are found as the table has it.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_checks.findings import Finding
from spark_checks.invariants.config.config_tables import check_configuration
from spark_checks.invariants.config.config_values import check_config_values
from spark_checks.invariants.config.settings import check_settings
from spark_checks.store_files import list_store
from spark_checks.survey.summary import QueueSummary, SurveySummary
from spark_checks.tests.building import SUMMARY
from spark_checks.tests.fields.config_members import ANY, config_members
from spark_checks.tests.fields.field_table import Outcome, Wrong, field_table
from spec.integers import INT64_MAX
from spec.store.consume_queue import UNIT_SIZE, decode_units
from spec.wire.bodies import fastjson

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
STORES = ("4.4.0-stopped", "4.6.0-stopped", "4.9.7-stopped", "5.3.3-stopped")
FROM_PARTS = ("consumerFilter.json", "timermetrics")
"""Files of which the recorded stores have none, or an empty one."""
_FILTER = "filterDataByTopic.*.groupFilterData.*"
BESIDE = {
    f"{_FILTER}.bloomFilterData.bitNum",
    f"{_FILTER}.bornTime",
    f"{_FILTER}.deadTime",
    "filterDataByTopic.*.topic",
}
"""Members with a finding at another member of their entry, which disagrees."""
PLANTED_MIN = 100
"""Wrong values that every store has place for, at least."""


@pytest.fixture
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a copy of a recorded store, with a filter and counts."""
    found = shutil.copytree(FIXTURES / "store" / request.param, tmp_path / "store")
    release = request.param.partition("-")[0]
    for name in FROM_PARTS:
        file = FIXTURES / "parts" / release / "config" / name
        if file.exists():
            shutil.copy(file, found / "config" / name)
    return Path(found)


@pytest.mark.parametrize("root", STORES, indirect=True)
def test_wrong_members_are_found_as_the_table_has_it(root: Path) -> None:
    summary = _summary_of(root)
    assert _findings(root, summary) == []
    planted: Counter[str] = Counter()
    for name, members in config_members().items():
        file = root / "config" / name
        if not file.exists():
            continue
        right = file.read_bytes()
        for member in members:
            for wrong, value, changed in _wrong_files(right, member):
                file.write_bytes(changed)
                found = _findings(root, summary)
                outcome = field_table()[name][member].outcome(wrong)
                problem = _problem(member, outcome, found, changed, value)
                assert problem == "", f"{name}: {member} {wrong} {value!r}"
                planted[name] += 1
        file.write_bytes(right)
    assert planted["topics.json"] > 0
    assert planted.total() >= PLANTED_MIN


def _problem(
    member: str,
    outcome: Outcome,
    found: Sequence[Finding],
    data: bytes,
    value: object,
) -> str:
    """Return the difference of the findings from *outcome*; empty without one."""
    ids = {one.invariant.id for one in found}
    if not ids <= set(outcome.findings):
        return f"unexpected: {sorted(ids)}"
    if outcome.findings and outcome.is_certain and not ids:
        return "not found"
    shown = json.dumps(value, separators=(",", ":")).encode()
    at_value = [one for one in found if data.startswith((shown, b"\0"), one.offset)]
    if found and not at_value and member not in BESIDE:
        return f"not at its place, but at {[one.offset for one in found]}"
    return ""


def _wrong_files(right: bytes, member: str) -> Iterator[tuple[Wrong, object, bytes]]:
    """Yield wrong values for the first and the last place of *member*, and the files.

    Each comes with its kind.
    """
    whole = fastjson.loads(right)
    places = list(_places(whole, member.split(".")))
    for place in dict.fromkeys(places[:1] + places[-1:]):
        for wrong in Wrong:
            changed = copy.deepcopy(whole)
            holder: Any = changed
            for key in place[:-1]:
                holder = holder[key]
            value = _wrong_value(holder[place[-1]], wrong)
            if value is not None:
                holder[place[-1]] = value
                data = fastjson.dumps(changed).replace(rb"\u0000", b"\0")
                yield wrong, value, data


def _places(value: Any, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value of a member in *value*."""
    if not names:
        yield ()
        return
    if not isinstance(value, dict):
        return
    keys = list(value) if names[0] == ANY else [names[0]] if names[0] in value else []
    for key in keys:
        for rest in _places(value[key], names[1:]):
            yield key, *rest


def _wrong_value(right: object, wrong: Wrong) -> object:
    """Return a wrong value of the kind *wrong* for *right*; None without one."""
    found: object = None
    if isinstance(right, bool):
        found = not right if wrong is Wrong.PLUS_ONE else None
    elif isinstance(right, int):
        numbers = {
            Wrong.ZERO: 0,
            Wrong.MAXIMUM: INT64_MAX,
            Wrong.NEGATIVE: -1,
            Wrong.PLUS_ONE: right + 1,
        }
        found = numbers.get(wrong)
    elif isinstance(right, str) and right:
        texts = {
            Wrong.ZERO: "\0" + right[1:],
            Wrong.PLUS_ONE: right[:-1] + chr(ord(right[-1]) + 1),
        }
        found = texts.get(wrong)
    elif isinstance(right, list) and right and isinstance(right[0], int):
        first = _wrong_value(right[0], wrong)
        found = None if first is None else [first, *right[1:]]
    return None if found == right else found


def _findings(root: Path, summary: SurveySummary) -> list[Finding]:
    """Return the findings in *root* that do not depend on the choices of an operator.

    A read queue count is wrong only beside consumed offsets (INV-CONFIG-006).
    """
    store = list_store(str(root))
    found = (
        *check_configuration(store),
        *check_settings(store, summary),
        *check_config_values(store),
    )
    return [one for one in found if one.invariant.id != "INV-CONFIG-006"]


def _summary_of(root: Path) -> SurveySummary:
    """Return a summary with the ends of the consume queues."""
    units: dict[tuple[str, int], QueueSummary] = {}
    for file in sorted(root.glob("consumequeue/*/*/*")):
        written = decode_units(file.read_bytes())
        if not written:
            continue
        last = int(file.name) // UNIT_SIZE + len(written) - 1
        topic, queue_id = file.parts[-3], int(file.parts[-2])
        units[topic, queue_id] = QueueSummary(
            count=last + 1,
            matched_count=last + 1,
            first=0,
            last=last,
            hash=0,
        )
    return replace(SUMMARY, units=units)
