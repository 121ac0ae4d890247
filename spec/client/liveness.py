"""Heartbeats and unregistration, by which brokers detect a client's life and end."""

from __future__ import annotations

from spec.clause import Clause, Level

_INSTANCE = "4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance"

HEARTBEAT_PERIOD_MS = 30_000
FIRST_HEARTBEAT_MS = 1000
HEARTBEAT_TIMEOUT_MS = 3000

HEARTBEATS = Clause(
    id="CLIENT-HEARTBEAT-001",
    level=Level.MUST,
    text=(
        "A client sends HEART_BEAT one second after its start and every 30 seconds "
        "to every master, and if it consumes to the slaves too."
    ),
    source=f"{_INSTANCE}#sendHeartbeatToAllBroker",
)
LEAVING = Clause(
    id="CLIENT-HEARTBEAT-002",
    level=Level.MUST,
    text=(
        "A client that shuts down sends UNREGISTER_CLIENT with its id and group to "
        "every broker, slaves included."
    ),
    source=f"{_INSTANCE}#unregisterClient",
)
CLIENT_ID = Clause(
    id="CLIENT-HEARTBEAT-003",
    level=Level.SHOULD,
    text=(
        "A client id is the client's address, @ and its instance name, by default "
        "its process id."
    ),
    source="4.6.0 org.apache.rocketmq.client.ClientConfig#buildMQClientId",
)
