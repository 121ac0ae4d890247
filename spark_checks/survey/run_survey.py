"""
Execution of the survey of a store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from spark_checks.situation import Situation
from spark_checks.store_files import Store
from spark_checks.survey.summary import Ranges

if TYPE_CHECKING:
    from spark_checks.survey.survey import Survey


def run_survey(
    session: SparkSession,
    store: Store,
    situation: Situation,
    delays: Mapping[int, int],
    *,
    ranges: Ranges = (),
    needs_system_topics: bool = False,
) -> Survey:
    """Return the survey of *store*, with the ledger if it is needed.

    The keys of records in *ranges* are summed up.
    """
    # Imported late: the driver needs these modules only from here on.
    from spark_checks.survey.sums import SurveyOptions
    from spark_checks.survey.survey import survey_store

    options = SurveyOptions(
        begin=store.begin,
        min_offset=situation.min_offset,
        parts=situation.parts,
        other_topics=situation.other_topics,
        delays=dict(delays),
        ranges=ranges,
        needs_system_topics=needs_system_topics,
    )
    found = survey_store(session.sparkContext, store, options)
    if not found.summary.records:
        summary = replace(found.summary, log_end=situation.min_offset)
        found = replace(found, summary=summary)
    return found
