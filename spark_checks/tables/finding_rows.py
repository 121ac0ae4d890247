"""
Rows that a check returns: one row per finding.

A rule is an invariant, a condition, and the content of its findings. Rules about the
same rows are checked together, because each query of its own costs Spark's planning.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import Invariant, Severity
from spark_checks.tables.predicates import log_file, queue_file
from spec.store.consume_queue import UNIT_SIZE

ERROR = str(Severity.ERROR)
WARNING = str(Severity.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Rule about rows, and the finding about a row that breaks it."""

    invariant: Invariant
    expected: Column | str
    found: Column | str
    message: Column
    severity: Column | str = ERROR
    is_broken: Column | bool = True
    """Condition of the finding; each row has one by default."""

    def columns(self) -> list[Column]:
        """Return the finding's columns, apart from its place."""
        known = {
            "invariant": self.invariant.id,
            "severity": self.severity,
            "expected": self.expected,
            "found": self.found,
            "message": self.message,
        }
        return [_column(value).alias(name) for name, value in known.items()]


def has_damage(damage: IntFlag) -> Column:
    """Whether a row has this kind of *damage*."""
    return F.col("damage").bitwiseAND(int(damage)) != 0


def _column(value: Column | str | bool) -> Column:
    return value if isinstance(value, Column) else F.lit(value)


def findings(
    rows: DataFrame, *rules: Rule, file: Column, offset: Column, length: Column
) -> DataFrame:
    """Return the findings of *rules* about *rows*, at a place in *file*, in bytes."""
    place = (
        file.alias("file"),
        offset.cast("bigint").alias("offset"),
        length.cast("bigint").alias("length"),
    )
    if len(rules) == 1:
        broken = rows.where(_column(rules[0].is_broken))
        return broken.select(*place, *rules[0].columns())
    each = (
        F.when(_column(rule.is_broken), F.struct(*rule.columns())) for rule in rules
    )
    return rows.select(*place, F.inline(F.array_compact(F.array(*each))))


def record_findings(rows: DataFrame, *rules: Rule) -> DataFrame:
    """Return the findings of *rules* about *rows* of the commit log."""
    place, size = F.col("position"), F.col("size")
    return findings(rows, *rules, file=log_file(), offset=place, length=size)


def unit_findings(rows: DataFrame, *rules: Rule) -> DataFrame:
    """Return the findings of *rules* about *rows* of consume-queue units."""
    place, size = F.col("position"), F.lit(UNIT_SIZE)
    return findings(rows, *rules, file=queue_file(), offset=place, length=size)


def record_message(text: str) -> Column:
    """Return a sentence about a row's record that ends with *text*."""
    return F.format_string(
        f"The record at %d (%s, queue %d, offset %d) {text}",
        *(F.col(n) for n in ("position", "topic", "queue_id", "queue_offset")),
    )
