"""
An audit of one store, and how that store stands to another.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pyspark.sql import SparkSession

from spark_checks.against.comparison import compare_stores
from spark_checks.against.document import document_of
from spark_checks.against.judged import findings_of
from spark_checks.audit import Audit, Progress
from spark_checks.broker_conf import BrokerConf


def compared_with(
    session: SparkSession,
    audit: Audit,
    urls: tuple[str, str],
    *,
    conf: BrokerConf,
    only: Collection[str] = (),
    progress: Progress = lambda _step: None,
) -> Audit:
    """Return *audit*, of the first of *urls*, with how that differs from the second.

    Raises NotAStoreError and SparkError.
    """
    compared = compare_stores(
        session, *urls, seen=audit.seen, conf=conf, progress=progress
    )
    found = [f for f in findings_of(compared) if not only or f.invariant.id in only]
    found += audit.findings
    found.sort(key=lambda f: (f.severity, f.invariant.id, f.file, f.offset))
    return replace(
        audit,
        findings=tuple(found),
        against=document_of(compared),
    )
