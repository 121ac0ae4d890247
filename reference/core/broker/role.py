"""
What a broker's role makes of a put: a slave takes none, a master may wait for slaves.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.broker.options import BrokerOptions, OptionError, Role
from reference.core.store.api import NewMessage, PutResult, PutStatus


def check_role(options: BrokerOptions) -> None:
    """Refuse settings with which 4.6.0 would not start; a master's id is 0.

    4.6.0 org.apache.rocketmq.broker.BrokerStartup#createBrokerController.
    """
    role = options.settings["brokerRole"]
    if role not in set(Role):
        raise OptionError(f"brokerRole is {role!r}, not one of {', '.join(Role)}")
    if role == Role.SLAVE and options.broker_id <= 0:  # [HA-SLAVE-012]
        raise OptionError(f"brokerId is {options.broker_id}; a slave's must be > 0")
    if role != Role.SLAVE:
        options.settings["brokerId"] = "0"


def put_in_role(
    options: BrokerOptions,
    message: NewMessage,
    now_ms: int,
    put: Callable[[NewMessage, int], PutResult],
) -> PutResult:
    """Return what *put* makes of *message*, unless this broker is a slave."""
    if options.is_slave:
        return PutResult(PutStatus.SERVICE_NOT_AVAILABLE)  # [SEND-STATE-002]
    return put(message, now_ms)
