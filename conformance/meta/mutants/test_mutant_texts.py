"""Golden texts of mutants contain only the parts that are equal in every run."""

from __future__ import annotations

import pytest

from conformance.harness.pytest_plugin.verdicts.verdict import VALID_RESPONSE
from conformance.meta.reports.goldens import FAILURES, text_of
from conformance.mutants.matrix import Kill
from conformance.mutants.mutant import Mutant, all_mutants
from conformance.mutants.texts import golden_shapes, masked, shape, stable_text

FAULT = Mutant(
    id="made_up",
    description="it is wrong",
    file="x.py",
    find="a",
    replace="b",
    caught_by=("WIRE-FRAME-002",),
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("code: 17, TOPIC_NOT_EXIST", "code: #, TOPIC_NOT_EXIST"),
        ("topic_46680310_25 at 127.0.0.1:10911", "topic_# at #:#"),
        ("(133, 'SOME_TOPIC', 1, -7)", "(#, ...)"),
        (r"bodies: [b'a\xff', b'", "bodies: [b'#'"),
        ("AC11000100002A9F0000000000000000", "#"),
        ("['a_46680310_25', 'b', 'c_4... (90 characters)", "[#, ... (# characters)"),
        ("['a_46680310_25', 'b',... (90 characters)", "[#, ... (# characters)"),
    ],
)
def test_numbers_and_names_of_a_run_are_masked(text: str, left: str) -> None:
    assert masked(text) == left


def test_a_text_keeps_sentence_names_hint_and_source() -> None:
    texts = {"WIRE-FRAME-002": text_of("header_length_from_8_bits")}
    text = stable_text(Kill(mutant=FAULT, outcomes={}, output="", texts=texts))
    for part in ("made_up: it is wrong", "got       header_size\n", "header_size: #"):
        assert part in text
    assert "RemotingCommand#getHeaderLength" in text
    assert "was one byte read of the three?" in text


@pytest.mark.parametrize("name", FAILURES)
def test_two_runs_of_a_failure_have_one_text(name: str) -> None:
    again = text_of(name).replace("opaque=7", "opaque=94").replace("1 ms", "17 ms")
    found = {
        stable_text(
            Kill(mutant=FAULT, outcomes={}, output="", texts={"WIRE-FRAME-002": text})
        )
        for text in (text_of(name), again)
    }
    assert len(found) == 1


def test_every_golden_text_is_of_a_mutant_and_has_a_shape_of_its_own() -> None:
    shapes = golden_shapes()
    assert shapes.keys() <= all_mutants().keys()
    assert len(set(shapes.values())) == len(shapes) > 20


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["expected  code: #"], ("number of a name",)),
        (["expected  [#, ...]"], ("list",)),
        (["expected  a: #", "expected  b: True"], ("bool", "number", "several values")),
        ([f"expected  {VALID_RESPONSE}", "hint      is it?"], ("hint", "no response")),
        (["(nothing more that is the same in every run)"], ("varies",)),
    ],
)
def test_a_shape_is_the_structure_of_a_text(
    rows: list[str], expected: tuple[str, ...]
) -> None:
    lines = ["WIRE-FRAME-002 (MUST) is not met.", "", *(f"  {row}" for row in rows)]
    found = shape("made_up: wrong\n\n# WIRE-FRAME-002\n" + "\n".join(lines) + "\n")
    assert {part.removesuffix(" of a name") for part in found} == {
        part.removesuffix(" of a name") for part in expected
    }
