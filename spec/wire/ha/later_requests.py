"""
Requests of 5.x about replication (Java: AdminBrokerProcessor).

Administrators read the state of replication. Brokers of one name exchange addresses;
the name server lists them.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_ADMIN_3 = "5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"

MASTER_STATUS = Clause(
    id="HA-STATUS-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, GET_BROKER_HA_STATUS (907) to a master without slaves returns "
        "master true, the commit log's max offset as masterCommitLogMaxOffset, and an "
        "empty haConnectionInfo."
    ),
    source=f"{_ADMIN_3}#getBrokerHaStatus",
    since="5.0",
)
MASTER_KEEPS_FLUSH_OFFSET = Clause(
    id="HA-STATUS-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, RESET_MASTER_FLUSH_OFFSET (908) to a master is answered with "
        "SUCCESS (0), and its masterFlushOffset does not change."
    ),
    source=f"{_ADMIN_3}#resetMasterFlushOffset",
    since="5.0",
)
MASTER_ADDRESSES = Clause(
    id="HA-EXCHANGE-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, EXCHANGE_BROKER_HA_INFO (906) without masterHaAddress to a "
        "master returns its address as masterAddress, its HA port's as "
        "masterHaAddress, and masterFlushOffset."
    ),
    source=f"{_ADMIN_3}#updateBrokerHaInfo",
    since="5.0",
)
MEMBERS_OF_NAME = Clause(
    id="ROUTE-MEMBERGROUP-001",
    level=Level.MUST,
    text=(
        "From 5.0 on, a name server answers GET_BROKER_MEMBER_GROUP (901) with the "
        "addresses, by broker id, of the brokers of one name."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#getBrokerMemberGroup",
    since="5.0",
)
NO_MEMBERS_OF_NAME = Clause(
    id="ROUTE-MEMBERGROUP-002",
    level=Level.MUST,
    text=(
        "From 5.0 on, a name server answers GET_BROKER_MEMBER_GROUP (901) for an "
        "unknown broker name with SUCCESS (0) and no addresses."
    ),
    source="5.3.3 org.apache.rocketmq.namesrv.routeinfo.RouteInfoManager"
    "#getBrokerMemberGroup",
    since="5.0",
)
