"""Vectors of signatures, recorded from the classes of real releases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from spec.security.signature import CONTENT, SIGNATURE_OF_CONTENT
from spec.vectors.form import Flag, Group, Vector, VectorFile

FLAGS = {
    "Recorded": Flag(
        meaning="Computed by AclUtils of the release in the comment.",
        clauses=(CONTENT, SIGNATURE_OF_CONTENT),
    ),
}


def signature_file(recorded: Mapping[str, bytes]) -> VectorFile:
    """Return the vectors of the *recorded* files, by where they stand."""
    return VectorFile(
        algorithm="signature",
        meaning="Content and signature of a request, from its fields and its body.",
        flags=FLAGS,
        groups=(Group(type="signature", tests=tuple(_tests(recorded))),),
    )


def _tests(recorded: Mapping[str, bytes]) -> Iterator[Vector]:
    for place, data in recorded.items():
        for case in json.loads(data):
            yield Vector(
                comment=f"{place}: {case['comment']}",
                members={
                    "values": case["fields"],
                    "bytes": case["body"],
                    "secret": case["secret"],
                    "content": case["content"],
                    "signature": case["signature"],
                },
                flags=("Recorded",),
            )
