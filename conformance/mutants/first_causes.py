"""
``python -m conformance.mutants.first_causes [ID...]``: the defect in a report.

A basic fault disturbs most tests. Whole suites run on each mutant, and the first
cause of the report should contain the clause of the fault. At most `MOST_CHARGED` other
clauses may fail: what only needs the broken part is blocked. A line for each mutant
names its first cause and the other clauses that failed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.harness.child_run.child_run import files_naming, run_child
from conformance.harness.child_run.forked_pytest import LateError
from conformance.harness.pytest_plugin.options import CONFORMANCE, suite_folders
from conformance.harness.report.causes import causes_of
from conformance.harness.report.outcome import Outcome
from conformance.mutants.mutant import Mutant, MutantError, mutant

BASIC = (
    # frames and headers
    "header_length_from_8_bits",
    "frames_must_come_alone",
    "split_frames_12",
    "pull_header_3052",
    "response_bit_clear",
    "opaque_of_failures_10280",
    "opaque_loses_its_sign",
    "failures_stay_unanswered",
    "oneway_is_answered",
    "response_sent_twice",
    "response_too_late",
    "numbers_in_ext_fields",
    "no_remark_is_null",
    "language_is_a_number",
    "remark_size_has_2_bytes",
    "numbers_beyond_32_bits",
    # records, units and ids
    "property_separator_dropped",
    "queue_offset_off_by_one",
    "queue_offset_stays_423",
    "physical_offset_in_file",
    "crc_shifted",
    "born_port_little_endian",
    "message_id_port_wrong",
    "unit_size_off_by_four",
    # queues
    "max_offset_of_last_message",
    "min_offset_one_up",
    "next_offset_stays",
    "pull_is_never_held",
    "unknown_topic_pull_is_empty",
    "offsets_only_grow",
    "every_pull_commits",
    # topics and routes
    "unknown_topic_has_a_route",
    "read_and_write_counts_swapped",
    "new_topics_are_told_later",
    "orphan_is_not_named",
    # groups, transactions and queries
    "groups_without_members_are_empty",
    "lock_is_shared",
    "rollback_delivers",
    "delay_is_taken_off",
    "newest_first",
)
SUITES = ("wire", "routing", "messaging")
"""Suites that run on each mutant, beside that of its own clause."""
MOST_CHARGED = 3
"""Other clauses that may fail on a mutant."""
JOBS = 4
TIMEOUT_S = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCause:
    """First cause and failed clauses of a report on one mutant."""

    mutant: Mutant
    first: tuple[str, ...]
    """Clauses of the first cause."""
    charged: tuple[str, ...]
    """Failed clauses that are not of the fault."""

    @property
    def is_right(self) -> bool:
        """Whether the first cause has the clause, and few others are charged."""
        names_it = bool(set(self.mutant.caught_by) & set(self.first))
        return names_it and len(self.charged) <= MOST_CHARGED

    @property
    def line(self) -> str:
        """The verdict in one line."""
        verdict = "right" if self.is_right else "WRONG"
        wanted, first = " ".join(self.mutant.caught_by), " ".join(self.first[:3])
        others = f"{len(self.charged)} others: {' '.join(self.charged)}"
        return f"{verdict}  {self.mutant.id:<34} {wanted}; first {first}; {others}"


def first_cause_of(fault: Mutant) -> FirstCause:
    """Run the suites on *fault*, and return the first cause of the report."""
    files = files_naming(fault.caught_by)
    own = {file.relative_to(CONFORMANCE).parts[0] for file in files}
    run = run_child(
        suite_folders(sorted({*SUITES, *own})),
        "--hypothesis-profile=glance",
        "--require-target",
        f"--target={fault.target}",
        f"-n{JOBS}",
        "--dist=loadfile",
        "--no-loadscope-reorder",
        timeout_s=TIMEOUT_S,
        has_baseline=True,
    )
    causes = causes_of(run.report.results)
    failed = [name for name, one in run.outcomes.items() if one == Outcome.FAIL]
    return FirstCause(
        mutant=fault,
        first=tuple(causes[0].clauses) if causes else (),
        charged=tuple(name for name in failed if name not in fault.caught_by),
    )


def main(ids: Iterable[str]) -> int:
    """Print the first cause of each mutant, and return the exit code."""
    right = total = 0
    try:
        for name in list(ids) or BASIC:
            seen = first_cause_of(mutant(name))
            sys.stdout.write(f"{seen.line}\n")
            sys.stdout.flush()
            total += 1
            right += seen.is_right
    except (MutantError, LateError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{right} of {total} reports name the fault first\n")
    return 0 if right == total else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
