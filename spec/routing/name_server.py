"""
A name server as a program: its requests and its settings.

Its settings come from a file given with ``-c``; tools read and change them by two of
its requests. Its tables of brokers are in memory alone; only key values outlive it.
"""

from __future__ import annotations

from spec.clause import Clause, Level
from spec.wire.remoting.request_code import RequestCode

_PROCESSOR = "4.6.0 org.apache.rocketmq.namesrv.processor.DefaultRequestProcessor"
_SETTINGS = "4.6.0 org.apache.rocketmq.common.namesrv.NamesrvConfig"
_NETWORK = "org.apache.rocketmq.remoting.netty.NettyServerConfig"
_START = "org.apache.rocketmq.namesrv.NamesrvStartup"

KNOWN_REQUESTS = (
    RequestCode.PUT_KV_CONFIG,
    RequestCode.GET_KV_CONFIG,
    RequestCode.DELETE_KV_CONFIG,
    RequestCode.REGISTER_BROKER,
    RequestCode.UNREGISTER_BROKER,
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
    RequestCode.GET_BROKER_CLUSTER_INFO,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    RequestCode.DELETE_TOPIC_IN_NAMESRV,
    RequestCode.GET_KVLIST_BY_NAMESPACE,
    RequestCode.GET_TOPICS_BY_CLUSTER,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS,
    RequestCode.GET_UNIT_TOPIC_LIST,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
    RequestCode.UPDATE_NAMESRV_CONFIG,
    RequestCode.GET_NAMESRV_CONFIG,
    RequestCode.QUERY_DATA_VERSION,
)
"""Requests that a name server of every release answers."""

KNOWN_CODES = Clause(
    id="ROUTE-CODE-001",
    level=Level.MUST,
    text=(
        "A name server answers the request codes 100 to 106, 205, 206, 216, 219, "
        "224, 304, 311 to 313, 318, 319 and 322."
    ),
    source=f"{_PROCESSOR}#processRequest",
)
USUAL_PORT = Clause(
    id="ROUTE-CONFIG-003",
    level=Level.SHOULD,
    text="A name server without a configured port listens at 9876.",
    source=f"4.6.0 {_START}#createNamesrvController",
    hints=(("is 8888", "the class of the settings says so, and is overruled"),),
    untestable="targets listen at ports of their own",
)
USUAL_SETTINGS = Clause(
    id="ROUTE-CONFIG-004",
    level=Level.SHOULD,
    text="By default a name server's productEnvName is center, and its clusterTest and"
    " orderMessageEnable are false.",
    source=f"{_SETTINGS}#productEnvName",
)
USUAL_NETWORK = Clause(
    id="ROUTE-CONFIG-005",
    level=Level.SHOULD,
    text=(
        "By default serverWorkerThreads is 8, serverCallbackExecutorThreads 0, "
        "serverSelectorThreads 3, serverOnewaySemaphoreValue 256 and "
        "serverAsyncSemaphoreValue 64. By default serverChannelMaxIdleTimeSeconds is "
        "120, serverPooledByteBufAllocatorEnable true and useEpollNativeSelector "
        "false."
    ),
    source=f"4.6.0 {_NETWORK}#serverWorkerThreads",
)
USUAL_BUFFERS = Clause(
    id="ROUTE-CONFIG-006",
    level=Level.SHOULD,
    text=(
        "Up to 4.9.2, serverSocketSndBufSize and serverSocketRcvBufSize are 65535 by "
        "default."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettySystemConfig"
    "#socketSndbufSize",
    until="4.9.2",
)
SYSTEM_BUFFERS = Clause(
    id="ROUTE-CONFIG-007",
    level=Level.SHOULD,
    text=(
        "From 4.9.3 on, serverSocketSndBufSize and serverSocketRcvBufSize are 0 by "
        "default, which leaves them to the operating system."
    ),
    source="4.9.3 org.apache.rocketmq.remoting.netty.NettySystemConfig"
    "#socketSndbufSize",
    since="4.9.3",
)
CONFIG_IS_ITS_FILE = Clause(
    id="ROUTE-CONFIG-008",
    level=Level.SHOULD,
    text=(
        "A name server's configStorePath is the file that it was started with, or by "
        "default namesrv/namesrv.properties in the user's home."
    ),
    source=f"4.6.0 {_START}#createNamesrvController",
    untestable="which files a program reads is not seen from outside; the default has"
    " no effect until settings are changed",
)
KEY_VALUES_LAST = Clause(
    id="ROUTE-KV-013",
    level=Level.MUST,
    text="Key values outlive a restart of the name server, and routes do not.",
    source="4.6.0 org.apache.rocketmq.namesrv.kvconfig.KVConfigManager#persist",
)
NO_ROUTE_NOTIFICATION = Clause(
    id="ROUTE-LIVENESS-014",
    level=Level.MUST,
    text=(
        "A name server sends no notification of a changed route to clients that "
        "requested it."
    ),
    source=f"{_PROCESSOR}#processRequest",
)
UNKNOWN_TOPIC_REMARK = Clause(
    id="ROUTE-DATA-012",
    level=Level.SHOULD,
    text="The response about a topic without a route has the topic in its remark.",
    source=f"{_PROCESSOR}#getRouteInfoByTopic",
)
REGISTRATION_ONEWAY = Clause(
    id="ROUTE-REG-023",
    level=Level.MUST,
    text="A registration sent oneway has its effect and gets no response.",
    source="4.6.0 org.apache.rocketmq.broker.out.BrokerOuterAPI#registerBroker",
)
_CLIENT = "org.apache.rocketmq.remoting.netty.NettyRemotingClient"
ALL_ARE_TRIED = Clause(
    id="CLIENT-NAMESRV-001",
    level=Level.MUST,
    text=(
        "Up to 5.2, a client whose name server fails tries all the others of its "
        "list before a call fails."
    ),
    source=f"4.6.0 {_CLIENT}#getAndCreateNameserverChannel",
    until="5.2",
)
ONE_IS_TRIED = Clause(
    id="CLIENT-NAMESRV-002",
    level=Level.QUIRK,
    text=(
        "From 5.3 on, a client whose name server fails tries one other name server "
        "in a call. The call fails if that server is unreachable."
    ),
    source=f"5.3.0 {_CLIENT}#getAndCreateNameserverChannelAsync",
    since="5.3",
)
