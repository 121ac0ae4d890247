"""
Audit of one store with its comparison to another.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyspark.sql import SparkSession

from spark_checks.against.comparison import compare_stores
from spark_checks.against.document import document_of
from spark_checks.against.findings import findings_of
from spark_checks.audit import Audit
from spark_checks.broker_conf import BrokerConf
from spark_checks.findings import in_order
from spark_checks.progress import Progress, silent


def compared_with(
    session: SparkSession,
    audit: Audit,
    urls: tuple[str, str],
    *,
    conf: BrokerConf,
    only: Collection[str] = (),
    progress: Progress = silent,
) -> Audit:
    """Return *audit*, of the first of *urls*, with its comparison to the second.

    Raises NotAStoreError and SparkError.
    """
    compared = compare_stores(
        session, *urls, summary=audit.survey_summary, conf=conf, progress=progress
    )
    found = findings_of(compared)
    wanted = [one for one in found if not only or one.invariant.id in only]
    return replace(
        audit,
        findings=tuple(in_order([*wanted, *audit.findings])),
        against=document_of(compared, found),
    )
