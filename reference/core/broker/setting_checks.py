"""
Checks of broker.conf at the start: keys, types and ranges (Java: BrokerStartup).

4.6.0 ignores every unknown key and every number that it cannot parse. The reference
warns of a key without effect, and refuses to start with a bad value.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from reference.core.broker.broker_config import DEFAULTS, SPELLINGS, OptionError
from reference.core.broker.scheduled.store_cleaning import FORCING_RATIO, WARNING_RATIO
from reference.core.store.delay.delay_levels import DelayLevels
from spec.integers import INT32_MAX, INT64_MAX, parse_java_long
from spec.store.consume_queue import UNIT_SIZE
from spec.wire.remoting.frame import FRAME_SIZE_MAX

PORT_MAX = 65_535
USED = frozenset(
    {*DEFAULTS, *SPELLINGS, "brokerIP2", "namesrvAddr", "rocketmqHome"}
    | {FORCING_RATIO, WARNING_RATIO}
)
"""Keys that change the behaviour of this broker, or that its requests return."""
UNSUPPORTED = frozenset(
    {
        "accessMessageInMemoryMaxRatio",
        "adminBrokerThreadPoolNums",
        "bitMapLengthConsumeQueueExt",
        "brokerFastFailureEnable",
        "channelNotActiveInterval",
        "clientAsyncSemaphoreValue",
        "clientCallbackExecutorThreads",
        "clientChannelMaxIdleTimeSeconds",
        "clientCloseSocketIfTimeout",
        "clientManagerThreadPoolQueueCapacity",
        "clientManageThreadPoolNums",
        "clientOnewaySemaphoreValue",
        "clientPooledByteBufAllocatorEnable",
        "clientSocketRcvBufSize",
        "clientSocketSndBufSize",
        "clientWorkerThreads",
        "commercialBaseCount",
        "commercialBigCount",
        "commercialEnable",
        "commercialTimerCount",
        "commercialTransCount",
        "connectTimeoutMillis",
        "consumerFallbehindThreshold",
        "consumerManagerThreadPoolQueueCapacity",
        "consumerManageThreadPoolNums",
        "debugLockEnable",
        "destroyMapedFileIntervalForcibly",
        "disableConsumeIfConsumerReadSlowly",
        "diskFallRecorded",
        "dLegerGroup",
        "dLegerPeers",
        "dLegerSelfId",
        "duplicationEnable",
        "enableDLegerCommitLog",
        "endTransactionThreadPoolNums",
        "fastFailIfNoBufferInStorePool",
        "fetchNamesrvAddrByAddressServer",
        "filterServerNums",
        "filterSupportRetry",
        "flushCommitLogTimed",
        "flushConsumerOffsetHistoryInterval",
        "flushDelayOffsetInterval",
        "flushLeastPagesWhenWarmMapedFile",
        "heartbeatThreadPoolNums",
        "heartbeatThreadPoolQueueCapacity",
        "highSpeedMode",
        "maxDelayTime",
        "messageStorePlugIn",
        "processReplyMessageThreadPoolNums",
        "pullMessageThreadPoolNums",
        "putMsgIndexHightWater",
        "queryMessageThreadPoolNums",
        "registerBrokerTimeoutMills",
        "replyThreadPoolQueueCapacity",
        "sendMessageThreadPoolNums",
        "serverAsyncSemaphoreValue",
        "serverCallbackExecutorThreads",
        "serverChannelMaxIdleTimeSeconds",
        "serverOnewaySemaphoreValue",
        "serverPooledByteBufAllocatorEnable",
        "serverSelectorThreads",
        "serverSocketRcvBufSize",
        "serverSocketSndBufSize",
        "serverWorkerThreads",
        "storePathCommitLog",
        "storePathRootDir",
        "transferMsgByHeap",
        "useEpollNativeSelector",
        "useReentrantLockWhenPutMessage",
        "useTLS",
        "waitTimeMillsInHeartbeatQueue",
        "waitTimeMillsInPullQueue",
        "waitTimeMillsInSendQueue",
        "waitTimeMillsInTransactionQueue",
        "warmMapedFileEnable",
    }
)
"""Other keys of 4.6.0."""
_PERIODS = (
    "flushConsumerOffsetInterval",
    "registerNameServerPeriod",
    "transactionCheckInterval",
    "haSendHeartbeatInterval",
    "haHousekeepingInterval",
    "cleanResourceInterval",
    "flushIntervalCommitLog",
    "flushIntervalConsumeQueue",
    "commitIntervalCommitLog",
)
RANGES: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(_PERIODS, (1, INT32_MAX)),
    "listenPort": (1, PORT_MAX),
    "haListenPort": (1, PORT_MAX),
    # 4.6.0 starts with less, and then refuses every message.
    "mappedFileSizeCommitLog": (256, INT32_MAX),
    "mappedFileSizeConsumeQueue": (UNIT_SIZE, INT32_MAX),
    "maxHashSlotNum": (1, INT32_MAX),
    "maxIndexNum": (1, INT32_MAX),
    "maxMessageSize": (1, INT32_MAX),
    "transientStorePoolSize": (1, INT32_MAX),
    # The name server's eighth has to hold a frame of the largest size.
    "peerMemoryMax": (8 * FRAME_SIZE_MAX, INT64_MAX),
}
"""Least and greatest value; other numbers are Java longs."""


def check_settings(settings: Mapping[str, str]) -> None:
    """Raise OptionError for the first value with which the broker must not start."""
    for name, default in DEFAULTS.items():
        # deleteWhen is a list of hours, such as 04;16.
        if name != "deleteWhen" and parse_java_long(default) is not None:
            _check_number(name, settings[name])
    try:
        DelayLevels(settings["messageDelayLevel"])
    except ValueError as error:
        raise OptionError(f"messageDelayLevel: {error}") from None


def setting_warnings(settings: Mapping[str, str]) -> list[str]:
    """Return one line for each key without effect, in order of the names."""
    lines = []
    for name in sorted(settings.keys() - USED):
        if name in UNSUPPORTED:
            lines.append(f"{name} has no effect here")
            continue
        near = get_close_matches(name, USED | UNSUPPORTED, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        lines.append(f"{name} is not a setting of a 4.6.0 broker{hint}")
    return lines


def _check_number(name: str, text: str) -> None:
    value = parse_java_long(text)
    if value is None:
        raise OptionError(f"{name} is {text!r}, which is not a number")
    least, most = RANGES.get(name, (None, None))
    if least is not None and most is not None and not least <= value <= most:
        raise OptionError(f"{name} is {value}, not between {least} and {most}")
