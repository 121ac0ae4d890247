"""
A store with the result of its survey: the input of all checks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_checks.progress import Progress
from spark_checks.situation import Situation
from spark_checks.store_files import Store
from spark_checks.survey.summary import Ranges, SurveySummary

if TYPE_CHECKING:
    from spark_checks.survey.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedStore:
    """A store with the result of its survey, and the options of the audit."""

    session: SparkSession
    store: Store
    summary: SurveySummary
    """Sums of the survey."""
    ledger: Ledger
    """Rows of the survey about system topics."""
    ranges: Ranges
    """Ranges in which keys were summed up."""
    situation: Situation
    delays: Mapping[int, int]
    """Milliseconds of each delay level."""
    progress: Progress
    only: Collection[str] = ()
    """Ids of the requested invariants; empty for all."""
