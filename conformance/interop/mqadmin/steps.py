"""
Every sub-command of mqadmin 4.6.0, as steps that run at two targets in this order.

A step is a command line. Words in capitals stand for values of a target: BROKER and
CLIENT are addresses and names, ID-0 is the id of the scene's first message. A step with
QUERY requests a broker's table that the tool changes and never prints. Steps see
the effects of earlier steps.
"""

from __future__ import annotations

from collections.abc import Sequence

SUB_COMMANDS = (
    *("updateTopic", "deleteTopic", "updateSubGroup", "deleteSubGroup"),
    *("updateBrokerConfig", "updateTopicPerm", "topicRoute", "topicStatus"),
    *("topicClusterList", "brokerStatus", "queryMsgById", "queryMsgByKey"),
    *("queryMsgByUniqueKey", "queryMsgByOffset", "printMsg", "printMsgByQueue"),
    *("sendMsgStatus", "brokerConsumeStats", "producerConnection"),
    *("consumerConnection", "consumerProgress", "consumerStatus", "cloneGroupOffset"),
    *("clusterList", "topicList", "updateKvConfig", "deleteKvConfig"),
    *("wipeWritePerm", "resetOffsetByTime", "updateOrderConf", "cleanExpiredCQ"),
    *("cleanUnusedTopic", "startMonitoring", "statsAll", "allocateMQ"),
    *("checkMsgSendRT", "clusterRT", "getNamesrvConfig", "updateNamesrvConfig"),
    *("getBrokerConfig", "queryCq", "sendMessage", "consumeMessage"),
    *("updateAclConfig", "deleteAccessConfig", "clusterAclConfigVersion"),
    *("updateGlobalWhiteAddr", "getAccessConfigSubCommand"),
)
"""Sub-commands of ``MQAdminStartup#initCommand`` in 4.6.0, in its order."""

SCENE, SINGLE, LATER = "AdminScene", "AdminSingle", "AdminColumnsLater"
"""Topics: of two queues with messages, of one queue, one that is made by a step."""
CREATED = "AdminColumns"
GROUP, NEW_GROUP, CLONED = "scene_group", "scene_new", "scene_cloned"
"""A group with a member that is not Java, one that a step makes, one of offsets."""
PRODUCERS = "scene_producers"
LIVE_GROUP, LIVE_TOPIC = "please_rename_unique_group_name_4", "TopicTest"
"""Group and topic of the quick start's Consumer."""

QUERY = "QUERY"
"""First word of a step that queries a broker's table."""
FOREVER = frozenset({"startMonitoring", "clusterRT"})
"""Commands that do not end: each runs apart until it has done one round."""

Words = tuple[str, ...]

_CLUSTER = ("-c", "DefaultCluster")
_BROKER = ("-b", "BROKER")
_NAMED = ("-b", "broker-a")
_SCENE = ("-t", SCENE)
_SINGLE = ("-t", SINGLE)
_QUEUE = ("-b", "broker-a", "-i", "0")
_GROUP = ("-g", GROUP)
_NEW = ("-g", NEW_GROUP)
_LIVE = ("-g", LIVE_GROUP)
_ACCOUNT = ("-a", "RocketMQ", "-s", "12345678")
_TOPIC = ("-t", CREATED)
_ORDER = ("updateOrderConf", *_TOPIC, "-m")
_GROUPS = (QUERY, "GET_ALL_SUBSCRIPTIONGROUP_CONFIG")
_OFFSETS = (QUERY, "GET_ALL_CONSUMER_OFFSET")
_TOPICS = (QUERY, "GET_ALL_TOPIC_CONFIG")

_MESSAGES: Sequence[Words] = (
    ("queryMsgById", "-i", "ID-0"),
    ("queryMsgById", "-i", "ID-1,ID-2"),
    ("queryMsgById", "-i", "NOWHERE"),
    ("queryMsgById", "-i", "LIVE-ID", *_LIVE, "-d", "CLIENT"),
    ("queryMsgById", "-i", "LIVE-ID", *_LIVE, "-d", "nobody@1"),
    ("queryMsgByKey", *_SCENE, "-k", "both"),
    ("queryMsgByKey", *_SCENE, "-k", "none"),
    ("queryMsgByUniqueKey", *_SCENE, "-i", "UNIQUE-0"),
    ("queryMsgByUniqueKey", *_SCENE, "-i", "ID-1"),
    ("queryMsgByUniqueKey", "-t", LIVE_TOPIC, "-i", "LIVE-ID", *_LIVE, "-d", "CLIENT"),
    ("queryMsgByOffset", *_SCENE, *_QUEUE, "-o", "1"),
    ("queryMsgByOffset", *_SCENE, *_QUEUE, "-o", "99"),
    ("printMsg", *_SCENE),
    ("printMsg", *_SCENE, "-s", "A", "-d", "false"),
    ("printMsg", *_SCENE, "-b", "0", "-e", "9999999999999"),
    ("printMsgByQueue", *_SCENE, "-a", "broker-a", "-i", "0", "-p", "true"),
    (
        *("printMsgByQueue", *_SCENE, "-a", "broker-a", "-i", "0", "-s", "A || B"),
        *("-p", "true", "-d", "true", "-f", "true"),
    ),
    ("consumeMessage", *_SCENE),
    ("consumeMessage", *_SCENE, "-c", "1"),
    ("consumeMessage", *_SCENE, *_QUEUE),
    ("consumeMessage", *_SCENE, *_QUEUE, "-o", "2", "-g", "scene_reader"),
    ("consumeMessage", *_SCENE, *_QUEUE, "-o", "99"),
    ("consumeMessage", *_SCENE, *_QUEUE, "-s", "1000", "-e", "2000"),
    ("queryCq", *_SCENE, "-q", "0", "-i", "0"),
    ("queryCq", *_SCENE, "-q", "0", "-i", "1", "-c", "1", *_BROKER),
    ("queryCq", *_SCENE, "-q", "0", "-i", "0", *_GROUP),
    ("queryCq", *_SCENE, "-q", "9", "-i", "0"),
)
_CLIENTS: Sequence[Words] = (
    ("producerConnection", "-g", PRODUCERS, *_SCENE),
    ("producerConnection", "-g", "nobody", *_SCENE),
    ("consumerConnection", *_GROUP),
    ("consumerConnection", *_LIVE),
    ("consumerConnection", "-g", "nobody"),
    ("consumerStatus", *_LIVE),
    ("consumerStatus", *_LIVE, "-i", "CLIENT"),
    ("consumerStatus", "-g", "nobody"),
    ("consumerProgress",),
    ("consumerProgress", *_GROUP),
    ("consumerProgress", *_LIVE, "-s", "true"),
    ("consumerProgress", "-g", "nobody"),
    ("brokerConsumeStats", *_BROKER),
    ("brokerConsumeStats", *_BROKER, "-l", "2"),
    ("brokerConsumeStats", *_BROKER, "-o", "true"),
    ("statsAll", *_SCENE),
    ("statsAll", "-t", LIVE_TOPIC),
    ("statsAll",),
    ("allocateMQ", *_SCENE, "-i", "10.0.0.1,10.0.0.2"),
    ("allocateMQ", *_SCENE, "-i", "10.0.0.1,10.0.0.2,10.0.0.3"),
    ("allocateMQ", "-t", "NoTopic", "-i", "10.0.0.1"),
    ("topicClusterList", *_SCENE),
    ("topicClusterList", "-t", "NoTopic"),
)
_OFFSET_CHANGES: Sequence[Words] = (
    ("cloneGroupOffset", "-s", GROUP, "-d", CLONED, *_SCENE),
    _OFFSETS,
    ("cloneGroupOffset", "-s", "nobody", "-d", CLONED, *_SCENE),
    ("resetOffsetByTime", *_LIVE, "-t", LIVE_TOPIC, "-s", "0"),
    ("resetOffsetByTime", "-g", CLONED, *_SCENE, "-s", "0"),
    ("resetOffsetByTime", "-g", CLONED, *_SCENE, "-s", "now", "-f", "false"),
    ("resetOffsetByTime", *_GROUP, *_SCENE, "-s", "-1", "-c"),
    ("resetOffsetByTime", *_GROUP, "-t", "NoTopic", "-s", "0"),
)
_SENDS: Sequence[Words] = (
    ("sendMessage", *_SINGLE, "-p", "a body"),
    ("sendMessage", *_SCENE, "-p", "more", "-k", "key", "-c", "A", *_QUEUE),
    ("sendMessage", *_SCENE, "-p", "more", "-i", "0"),
    ("sendMessage", *_SCENE, "-p", "more", *_NAMED, "-i", "9"),
    ("sendMsgStatus", *_NAMED, "-c", "2", "-s", "32"),
    ("checkMsgSendRT", *_SCENE, "-a", "3", "-s", "16"),
    ("clusterRT", "-a", "3", "-s", "16", "-i", "3600"),
    ("clusterRT", "-a", "3", "-s", "16", "-p", "true", "-m", "room", *_CLUSTER),
    ("queryMsgById", "-i", "SINGLE-ID", "-s", "true"),
    ("topicStatus", *_SCENE),
    ("topicStatus", "-t", "broker-a"),
)
_SETTINGS: Sequence[Words] = (
    ("updateSubGroup", *_CLUSTER, *_NEW),
    _GROUPS,
    (
        *("updateSubGroup", *_BROKER, *_NEW, "-s", "false", "-m", "true", "-d", "true"),
        *("-q", "3", "-r", "7", "-i", "1", "-w", "2", "-a", "false"),
    ),
    _GROUPS,
    ("deleteSubGroup", *_BROKER, *_NEW),
    ("deleteSubGroup", *_CLUSTER, *_NEW),
    ("deleteSubGroup", *_BROKER, "-g", "nobody"),
    _GROUPS,
    ("updateTopicPerm", *_BROKER, *_SINGLE, "-p", "4"),
    ("updateTopicPerm", *_BROKER, *_SINGLE, "-p", "4"),
    ("updateTopicPerm", "-b", "127.0.0.1:1", *_SINGLE, "-p", "4"),
    ("topicRoute", *_SINGLE),
    ("updateTopicPerm", *_CLUSTER, *_SINGLE, "-p", "6"),
    ("updateTopicPerm", *_BROKER, "-t", "NoTopic", "-p", "6"),
    _TOPICS,
    ("getBrokerConfig", *_BROKER),
    ("updateBrokerConfig", *_BROKER, "-k", "defaultTopicQueueNums", "-v", "5"),
    ("updateBrokerConfig", *_CLUSTER, "-k", "traceOn", "-v", "false"),
    ("updateBrokerConfig", *_BROKER, "-k", "noSuchSetting", "-v", "1"),
    ("updateBrokerConfig", *_BROKER, "-k", "brokerId", "-v", "no number"),
    ("getBrokerConfig", *_CLUSTER),
    ("updateAclConfig", *_BROKER, *_ACCOUNT, "-i", "DENY", "-t", "A=PUB,B=SUB"),
    ("updateAclConfig", *_CLUSTER, *_ACCOUNT, "-m", "true"),
    ("deleteAccessConfig", *_BROKER, "-a", "RocketMQ"),
    ("updateGlobalWhiteAddr", *_BROKER, "-g", "10.10.103.*"),
    ("clusterAclConfigVersion", *_BROKER),
    ("getAccessConfigSubCommand", *_BROKER),
    ("cleanExpiredCQ", *_BROKER),
    ("cleanExpiredCQ", *_CLUSTER),
    ("cleanUnusedTopic", *_BROKER),
    ("cleanUnusedTopic", *_CLUSTER),
    ("topicStatus", *_SCENE),
)
CREATE: Words = ("updateTopic", *_CLUSTER, *_TOPIC, "-r", "2", "-w", "2")
ROUTES: Sequence[Words] = (
    ("updateTopic", *_BROKER, "-t", LATER, "-r", "3", "-w", "4", "-p", "4"),
    ("topicList",),
    ("topicList", "-c"),
    ("topicRoute", *_TOPIC),
    ("topicRoute", "-t", LATER),
    ("topicStatus", *_TOPIC),
    ("clusterList",),
    ("clusterList", "-m"),
    ("brokerStatus", *_BROKER),
    ("brokerStatus", *_CLUSTER),
    ("updateKvConfig", "-s", "Space", "-k", "key", "-v", "a value"),
    ("deleteKvConfig", "-s", "Space", "-k", "key"),
    ("deleteKvConfig", "-s", "NoSpace", "-k", "key"),
    ("getNamesrvConfig",),
    ("updateNamesrvConfig", "-k", "productEnvName", "-v", "elsewhere"),
    ("updateNamesrvConfig", "-k", "noSuchSetting", "-v", "1"),
    ("getNamesrvConfig",),
    (*_ORDER, "put", "-v", "broker-a:2"),
    (*_ORDER, "get"),
    (*_ORDER, "delete"),
    (*_ORDER, "get"),
    ("wipeWritePerm", *_NAMED),
    ("wipeWritePerm", "-b", "broker-x"),
    ("topicRoute", *_TOPIC),
    ("deleteTopic", *_CLUSTER, *_TOPIC),
    ("topicList",),
    ("topicRoute", *_TOPIC),
    ("topicStatus", *_TOPIC),
)
"""The steps that mqadmin of 5.3.3 also takes at a 4.6.0."""

SCENE_STEPS: Sequence[Words] = (
    *_MESSAGES,
    *_CLIENTS,
    *_OFFSET_CHANGES,
    *_SENDS,
    *_SETTINGS,
)
ALL: Sequence[Words] = (*SCENE_STEPS, CREATE, *ROUTES, ("startMonitoring",))
"""The monitor is a consumer, too, that is counted and seen: so it comes last."""
