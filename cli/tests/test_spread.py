"""``rmqc test``: ``--jobs`` and ``--order``."""

from __future__ import annotations

import os

import pytest

from cli.runs.workers import BY_FILE, MOST_JOBS, jobs_of, seed_of, spread_words


@pytest.mark.parametrize(
    ("name", "cores", "jobs"),
    [
        ("embedded:", 1, 4),
        ("embedded:", 2, 8),
        ("jvm:4.6.0", 2, 6),
        ("jvm:5.3.3", 2, 4),
        ("docker:apache/rocketmq", 2, 4),
    ],
)
def test_workers_are_more_than_cores(
    monkeypatch: pytest.MonkeyPatch, name: str, cores: int, jobs: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert jobs_of(None, [name], []) == jobs
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert jobs_of(None, [name], []) == MOST_JOBS


def test_few_tests_have_no_workers_and_a_wish_is_heeded() -> None:
    assert jobs_of(None, ["embedded:"], ["-k", "send"]) == 0
    assert jobs_of(5, ["embedded:"], ["-k", "send"]) == 5


def test_a_random_order_tells_the_number_that_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drawn = seed_of("random", None)
    assert f"--seed {drawn} " in capsys.readouterr().out
    assert seed_of("random", 7) == 7
    assert seed_of("usual", None) is None
    assert f"--shuffle={drawn}" in spread_words("random", drawn, 2)


def test_files_stay_together_in_the_usual_order() -> None:
    assert spread_words("usual", 7, 2) == ["-n", "2", *BY_FILE]
    assert spread_words("usual", None, 0) == ["-n", "0"]
