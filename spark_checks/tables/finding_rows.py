"""
Rows that a check returns: one row per finding.

A rule is an invariant and the condition of what breaks it. Rules about the same rows
are checked together, because each query of its own costs Spark's planning.

Conditions and places are SQL. A text may have SQL in braces, and behind a colon its
format for Java's Formatter: ``0x{body_crc:08x}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from typing import TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 # as everywhere with Spark

from spark_checks.findings import INVARIANTS, TEXTS, Severity
from spark_checks.situation import Situation
from spec.store.consume_queue import UNIT_SIZE

ERROR = str(Severity.ERROR)
UNFINISHED = str(Severity.UNFINISHED)
LOG_FILE = "commitlog/{file_base:020d}"
QUEUE_FILE = "consumequeue/{topic}/{queue_id}/{file_base:020d}"
_NO_VALUES: Mapping[str, str] = {}
Damage = TypeVar("Damage", bound=IntFlag)
_in_braces = re.compile(r"{(.+?)(?::(\w+))?}")


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule about rows, and the finding about a row that breaks it."""

    invariant: str
    """Id of the invariant, which has the texts of the finding."""
    is_broken: str = "true"
    """Condition of the finding; each row has one by default."""
    severity: str = ""
    """SQL in braces, if it is not always the invariant's severity."""
    values: Mapping[str, str] = field(default_factory=dict)
    """SQL of values in the texts that are no columns, by name."""

    def columns(self) -> list[Column]:
        """Return the finding's columns, apart from its place."""
        invariant = INVARIANTS[self.invariant]
        texts = {
            "severity": self.severity or str(invariant.severity),
            **{name: getattr(invariant, name) for name in TEXTS},
        }
        return [
            F.lit(self.invariant).alias("invariant"),
            *(text(one, self.values).alias(name) for name, one in texts.items()),
        ]


def text(template: str, values: Mapping[str, str] = _NO_VALUES) -> Column:
    """Return *template* with a row's values in place of the SQL in braces.

    The names of *values* stand for their SQL.
    """
    found = _in_braces.findall(template)
    if not found:
        return F.lit(template)
    formats = _in_braces.sub(
        lambda found: f"%{found[2] or 's'}", template.replace("%", "%%")
    )
    return F.format_string(formats, *(F.expr(values.get(sql, sql)) for sql, _ in found))


def damage_rules(names: Mapping[Damage, str], **values: str) -> list[Rule]:
    """Return a rule about rows with each kind of damage; *names* has the invariants."""
    return [
        Rule(name, has_damage(damage), values=values) for damage, name in names.items()
    ]


def has_damage(damage: IntFlag) -> str:
    """Return the condition of a row with this kind of *damage*."""
    return f"damage & {int(damage)} != 0"


def severity_behind(offset: str, situation: Situation) -> str:
    """Return the severity of a row: UNFINISHED if *offset* is behind the log."""
    return f"{{if({offset} >= {situation.log_end}, '{UNFINISHED}', '{ERROR}')}}"


def findings(
    rows: DataFrame,
    *rules: Rule,
    file: str,
    offset: str = "position",
    length: str | int = "size",
) -> DataFrame:
    """Return the findings of *rules* about *rows*, at a place in *file*, in bytes."""
    place = (
        text(file).alias("file"),
        F.expr(offset).cast("bigint").alias("offset"),
        F.expr(str(length)).cast("bigint").alias("length"),
    )
    if len(rules) == 1:
        return rows.where(rules[0].is_broken).select(*place, *rules[0].columns())
    each = (F.when(F.expr(rule.is_broken), F.struct(*rule.columns())) for rule in rules)
    return rows.select(*place, F.inline(F.array_compact(F.array(*each))))


def record_findings(rows: DataFrame, *rules: Rule) -> DataFrame:
    """Return the findings of *rules* about *rows* of the commit log."""
    return findings(rows, *rules, file=LOG_FILE)


def unit_findings(rows: DataFrame, *rules: Rule) -> DataFrame:
    """Return the findings of *rules* about *rows* of consume-queue units."""
    return findings(rows, *rules, file=QUEUE_FILE, length=UNIT_SIZE)
