"""Files whose tests share a broker belong together; any other is alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness.pytest_plugin.grouping import SHARED, group_of
from conformance.store import conftest as store_fixtures

FIXTURE = (
    "import pytest\n\n@pytest.fixture\ndef shelf(obedient):\n    return obedient\n"
)
TEST = "def test_it(broker, written: int) -> None:\n    assert written\n"
ALONE = "def test_it(broker) -> None:\n    written = 1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(FIXTURE, "obedient"), (TEST, "written"), (ALONE, None), ("def :", None)],
)
def test_a_file_says_in_parameters_what_it_asks_for(
    text: str, expected: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert group_of(path) == expected


def test_a_file_that_is_not_there_is_alone(tmp_path: Path) -> None:
    assert group_of(tmp_path / "test_none.py") is None


def test_files_of_the_suite_stay_together() -> None:
    directory = Path(str(store_fixtures.__file__)).parent
    groups = [group_of(path) for path in sorted(directory.rglob("test_*.py"))]
    assert groups.count("written") > 1
    assert set(groups) <= {*SHARED, None}
