"""
Undetermined parts of mqadmin's output, each with the reason.

These columns, lines and pieces of text differ between any two runs, even of one server,
so only their form is compared. Everything else must be equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

CLOCK = "the two are queried at different times"
RATE = "depends on how many seconds ago the message was sent"
DISK = "other programs write to the disk meanwhile"
TIMING = "depends on how fast the machine is"
PLACE = "each target keeps its files in a directory of its own"
FLUSH = "a flush may come before or after the question"
OBJECT = "where an object lies in the memory of a Java machine"

_RUNTIME = {
    "bootTimestamp": CLOCK,
    "runtime": CLOCK,
    "commitLogDirCapacity": DISK,
    "commitLogDiskRatio": DISK,
    "consumeQueueDiskRatio": DISK,
    "getFoundTps": RATE,
    "getMissTps": RATE,
    "getTotalTps": RATE,
    "getTransferedTps": RATE,
    "putTps": RATE,
    "putMessageDistributeTime": TIMING,
    "putMessageEntireTimeMax": TIMING,
    "getMessageEntireTimeMax": TIMING,
    "remainHowManyDataToFlush": FLUSH,
}
UNDETERMINED: Mapping[str, Mapping[str, str]] = {
    "clusterList": {
        "InTPS(LOAD)": RATE,
        "OutTPS(LOAD)": RATE,
        "Hour": CLOCK,
        "SPACE": DISK,
    },
    "topicStatus": {"Last Updated": CLOCK},
    "brokerStatus": _RUNTIME,
    "getNamesrvConfig": {
        "configStorePath": PLACE,
        "kvConfigPath": PLACE,
        "rocketmqHome": PLACE,
    },
    "statsAll": {
        "InTPS": RATE,
        "OutTPS": RATE,
        "InMsg24Hour": "is counted every ten seconds only",
        "OutMsg24Hour": "is counted every ten seconds only",
    },
    "checkMsgSendRT": {"RT": TIMING},
    "clusterRT": {"RT": TIMING},
}
"""By command, each column or line whose value is not determined, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeterminedText:
    """Undetermined piece of text, at any position."""

    name: str
    pattern: re.Pattern[str]
    reason: str


UNDETERMINED_TEXTS = (
    UndeterminedText(
        name="what is left of a time limit",
        pattern=re.compile(r"timeout, \d+\(ms\)"),
        reason="often one millisecond less",
    ),
    UndeterminedText(
        name="time of now, in ms",
        pattern=re.compile(r"(?<!\d)1[78]\d{11}(?!\d)"),
        reason=CLOCK,
    ),
    UndeterminedText(
        name="date",
        pattern=re.compile(r"20\d\d-\d\d-\d\d.\d\d:\d\d:\d\d(,\d+)?"),
        reason=CLOCK,
    ),
    UndeterminedText(
        name="date in digits",
        pattern=re.compile(r"(?<!\d)20[2-9]\d{11}(\d{3})?(?!\d)"),
        reason=CLOCK,
    ),
    UndeterminedText(
        name="unique key",
        pattern=re.compile(r"(?<!\w)(?!7F0000010000)[0-9A-F]{32}(?!\w)"),
        reason="the tool makes it of its clock and its address",
    ),
    UndeterminedText(
        name="address of the tool",
        pattern=re.compile(r"(Producer: |bornHost=/)\d[\d.]+:\d+"),
        reason="each connection has a port of its own",
    ),
    UndeterminedText(
        name="time taken",
        pattern=re.compile(r"rt:\d+ms|spentTimeMills=\d+|\|\d+$"),
        reason=TIMING,
    ),
    UndeterminedText(
        name="mean or rate",
        pattern=re.compile(r"^\d+\.\d\d$"),
        reason="depends on how fast the machine is, and on the time of the query",
    ),
    UndeterminedText(
        name="delay",
        pattern=re.compile(r"undoneMsgsDelayTimeMills=\d+"),
        reason=CLOCK,
    ),
    UndeterminedText(
        name="rate",
        pattern=re.compile(r"Consume TPS: [\d.]+|(?<=\s)\d+\.\d\d(?=\s)"),
        reason=RATE,
    ),
    UndeterminedText(
        name="object",
        pattern=re.compile(r"(?<=[\w$])@[0-9a-f]{4,8}(?!\w)"),
        reason=OBJECT,
    ),
    UndeterminedText(
        name="words for a null",
        pattern=re.compile(r"DESC: (null|Cannot invoke .*)"),
        reason="with access control off 4.6.0 throws a NullPointerException, whose text"
        " depends on its Java runtime",
    ),
)
"""Pieces of text that are not determined in any command."""

_NO_EFFECT: Mapping[str, str] = {
    "threads of the broker, which the reference has none of": """
        adminBrokerThreadPoolNums clientManageThreadPoolNums
        consumerManageThreadPoolNums endTransactionThreadPoolNums
        heartbeatThreadPoolNums
        processReplyMessageThreadPoolNums pullMessageThreadPoolNums
        queryMessageThreadPoolNums sendMessageThreadPoolNums
        useReentrantLockWhenPutMessage
        clientManagerThreadPoolQueueCapacity consumerManagerThreadPoolQueueCapacity
        heartbeatThreadPoolQueueCapacity replyThreadPoolQueueCapacity
        brokerFastFailureEnable waitTimeMillsInHeartbeatQueue waitTimeMillsInPullQueue
        waitTimeMillsInSendQueue waitTimeMillsInTransactionQueue""",
    "how Java does its input and output": """
        bindAddress channelNotActiveInterval clientAsyncSemaphoreValue
        clientCallbackExecutorThreads clientChannelMaxIdleTimeSeconds
        clientCloseSocketIfTimeout clientOnewaySemaphoreValue
        clientPooledByteBufAllocatorEnable clientSocketRcvBufSize clientSocketSndBufSize
        clientWorkerThreads connectTimeoutMillis serverAsyncSemaphoreValue
        serverCallbackExecutorThreads serverChannelMaxIdleTimeSeconds
        serverOnewaySemaphoreValue serverPooledByteBufAllocatorEnable
        serverSelectorThreads serverSocketRcvBufSize serverSocketSndBufSize
        serverWorkerThreads useEpollNativeSelector useTLS transferMsgByHeap
        destroyMapedFileIntervalForcibly fastFailIfNoBufferInStorePool
        flushLeastPagesWhenWarmMapedFile warmMapedFileEnable""",
    "nothing in 4.6.0's broker reads it": """
        commercialBigCount commercialEnable commercialTimerCount commercialTransCount
        flushConsumerOffsetHistoryInterval highSpeedMode maxDelayTime
        putMsgIndexHightWater""",
    "paths of files and addresses, which the reference gets at its start": """
        brokerIP2 namesrvAddr rocketmqHome storePathCommitLog storePathRootDir
        fetchNamesrvAddrByAddressServer registerBrokerTimeoutMills""",
    "something that the reference does not have, or does in one way": """
        accessMessageInMemoryMaxRatio aclEnable bitMapLengthConsumeQueueExt
        commercialBaseCount consumerFallbehindThreshold debugLockEnable
        disableConsumeIfConsumerReadSlowly diskFallRecorded duplicationEnable
        enableDLegerCommitLog filterServerNums filterSupportRetry flushCommitLogTimed
        flushDelayOffsetInterval messageStorePlugIn""",
    "an old name that the settings file has, too, which a real one repeats": """
        mapedFileSizeCommitLog mapedFileSizeConsumeQueue""",
    "a property of the Java machine, not a setting of a real broker": """
        rocketmq.broker.diskSpaceWarningLevelRatio
        rocketmq.broker.diskSpaceCleanForciblyRatio""",
    "a real one is given more time here, where many things run at once": """
        osPageCacheBusyTimeOutMills""",
}
ABSENT: Mapping[str, Mapping[str, str]] = {
    "getNamesrvConfig": {
        "bindAddress": "stands in the file that the real one was started with; 4.6.0"
        " repeats what it does not know",
    },
    "getBrokerConfig": {
        name: reason for reason, names in _NO_EFFECT.items() for name in names.split()
    },
}
"""By command, each line that is not compared, as one of the two may lack it, and why.
"""
