"""
Counterexample as a file of test vectors: frames with a wrong response.

Hypothesis finds the smallest example that fails. Its sent frames are written in the
form of ``fixtures/vectors`` (docs/vectors.md). A peer's own tests, in any language, can
then use the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from conformance.harness.client.transcript import Direction, Transcript, frames_of
from spec.layout import LayoutError
from spec.registry import clause as clause_of
from spec.vectors.form import (
    Flag,
    Group,
    Result,
    Vector,
    VectorFile,
    as_plain,
    values_of,
)
from spec.wire.remoting.command import decode_command

COUNTEREXAMPLE = "Counterexample"
READ_ONLY = "ReadOnly"
MOST_BYTES = 4 << 20
"""Limit of the sent bytes; a capture has the rest."""


def counterexample(
    transcripts: Iterable[Transcript],
    *,
    clauses: Iterable[str],
    example: str,
    test: str,
) -> str | None:
    """Return a file of vectors of the frames that were sent; None if none were."""
    vectors = tuple(
        _vector(frame)
        for one in transcripts
        for frame in frames_of(_sent(one))
        if frame
    )
    size = sum(len(one.members["bytes"]) for one in vectors)
    if not 0 < size <= MOST_BYTES:
        return None
    blamed = tuple(clause_of(name) for name in clauses)
    file = VectorFile(
        algorithm="frame",
        meaning=f"What {test} sent in its smallest example that failed."
        f" {example}".strip(),
        flags={
            COUNTEREXAMPLE: Flag(
                meaning=" ".join(clause.text for clause in blamed), clauses=blamed
            ),
            READ_ONLY: Flag(meaning="To be read so, but another writer's form."),
        },
        groups=(Group(type="frame", tests=vectors),),
    )
    return json.dumps(as_plain(file), indent=1, ensure_ascii=False) + "\n"


def _sent(transcripts: Transcript) -> bytes:
    sent = [entry.data for entry in transcripts if entry.direction is Direction.SENT]
    return b"".join(sent)


def _vector(frame: bytes) -> Vector:
    flags = (COUNTEREXAMPLE,)
    try:
        values = values_of(decode_command(frame))
    except LayoutError as error:
        return Vector(
            comment=f"no frame: {error.reason}",
            members={"bytes": frame},
            result=Result.INVALID,
            flags=flags,
        )
    return Vector(
        comment="as it was sent; another writer may order members otherwise",
        members={"bytes": frame, "values": values},
        flags=(*flags, READ_ONLY),
    )
