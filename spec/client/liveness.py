"""
How brokers know that a client lives: heartbeats, and a word when it ends.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_INSTANCE = "4.6.0 org.apache.rocketmq.client.impl.factory.MQClientInstance"

HEARTBEAT_PERIOD_MS = 30_000
FIRST_HEARTBEAT_MS = 1000
HEARTBEAT_TIMEOUT_MS = 3000

HEARTBEATS = Clause(
    id="CLIENT-HEARTBEAT-001",
    level=Level.MUST,
    text="A client sends a heartbeat, one second after its start and every 30 seconds,"
    " to every master it knows, and if it consumes to the slaves too.",
    source=f"{_INSTANCE}#sendHeartbeatToAllBroker",
)
LEAVING = Clause(
    id="CLIENT-HEARTBEAT-002",
    level=Level.MUST,
    text="A client that ends sends UNREGISTER_CLIENT to every broker it knows, slaves"
    " too, with its id and the group it leaves.",
    source=f"{_INSTANCE}#unregisterClient",
)
CLIENT_ID = Clause(
    id="CLIENT-HEARTBEAT-003",
    level=Level.SHOULD,
    text="A client's id is its address, @ and its instance's name, which is its process"
    " id unless it is told another.",
    source="4.6.0 org.apache.rocketmq.client.ClientConfig#buildMQClientId",
)
