"""
Invariants of retries and dead letters.

A producer may send to such a topic directly, without the properties. Only messages with
a mark of CONSUMER_SEND_MSG_BACK are checked.
"""

from __future__ import annotations

from collections.abc import Mapping

from spark_checks.broker_progress import BrokerProgress
from spark_checks.columns.by_key import Table
from spark_checks.findings import Finding
from spark_checks.invariants.ledger_findings import LedgerRecords, Row, record_finding
from spark_checks.survey.ledger import Ledger
from spec.wire.message.properties import Property


def match_send_backs(ledger: Ledger, _progress: BrokerProgress) -> Mapping[str, Table]:
    """Return the wrong retries and dead letters, which the ledger has selected."""
    return {
        "INV-RETRY-001": ledger.table("retries"),
        "INV-RETRY-002": ledger.table("dead_letters"),
    }


def retry_without_origin(records: LedgerRecords, row: Row) -> Finding:
    """Return the finding about a retry that does not name topic, id and deliveries."""
    record = records.at(row["offset"])
    topic = record.properties.get(Property.RETRY_TOPIC, "no topic")
    origin = record.properties.get(Property.ORIGIN_MESSAGE_ID, "no id")
    return record_finding(
        "INV-RETRY-001",
        record,
        expected="RETRY_TOPIC, an id in ORIGIN_MESSAGE_ID, and a delivery",
        found=f"{topic}, {origin}, {record.reconsume_times} deliveries",
        text="was sent back, and does not name its origin.",
    )


def dead_letter_without_topic(records: LedgerRecords, row: Row) -> Finding:
    """Return the finding about a dead letter without RETRY_TOPIC."""
    return record_finding(
        "INV-RETRY-002",
        records.at(row["offset"]),
        expected="RETRY_TOPIC",
        found="none",
        text="is a dead letter without its original topic.",
    )
