"""
What is different about a pull where there are slaves: who should be asked next time,
and that a slave corrects nobody's offset, because its own log may be behind.
"""

from __future__ import annotations

from reference.core.broker.options import BrokerOptions
from reference.core.broker.subscription_groups import SubscriptionGroup
from reference.core.store.api import GetResult
from spec.wire.response_code import ResponseCode

MASTER_ID = 0


def suggested_broker(
    options: BrokerOptions, result: GetResult, group: SubscriptionGroup
) -> int:
    """Return the id of the broker that a consumer should ask next."""
    if not options.truth("slaveReadEnable"):
        return MASTER_ID  # [PULL-FOUND-005] [HA-SLAVE-014]
    return group.broker_id_when_slow if result.suggest_slave else group.broker_id


def corrects_offsets(options: BrokerOptions) -> bool:
    """Return whether this broker knows which offsets a queue really has."""
    return not options.is_slave or options.truth("offsetCheckInSlave")


def uncorrected(result: GetResult, offset: int) -> tuple[int, GetResult]:
    """Return code and result of a pull at *offset*, where a slave has nothing."""
    # [HA-SLAVE-009]
    code = int(ResponseCode.PULL_RETRY_IMMEDIATELY)
    return code, result._replace(next_begin_offset=offset)
