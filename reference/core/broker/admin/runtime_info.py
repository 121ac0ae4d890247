"""
Runtime info of a broker: the table that ``mqadmin brokerStatus`` prints.

`clusterList` picks its columns from it, so every name that 4.6.0 has is here. A core
without threads has no queues of waiting requests: their sizes and waits are 0.
"""

from __future__ import annotations

import math

from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.response import RELEASE_ORDINAL, Response, json_response
from spec.store.message_record import decode_record
from spec.wire.message.topic_names import SCHEDULE_TOPIC

_NO_POOL = 2_147_483_647
"""Free buffers that 4.6.0 reports for a pool that is not used."""

_NO_DIRECTORY = "-1.0"
"""Used ratio of a directory that does not exist yet."""

_ALWAYS_ZERO = (
    "EndTransactionQueueSize",
    "dispatchBehindBytes",
    "dispatchMaxBuffer",
    "getMessageEntireTimeMax",
    "msgGetTotalTodayMorning",
    "msgGetTotalYesterdayMorning",
    "msgPutTotalTodayMorning",
    "msgPutTotalYesterdayMorning",
    "pageCacheLockTimeMills",
    "pullThreadPoolQueueHeadWaitTimeMills",
    "pullThreadPoolQueueSize",
    "putMessageEntireTimeMax",
    "queryThreadPoolQueueHeadWaitTimeMills",
    "queryThreadPoolQueueSize",
    "sendThreadPoolQueueHeadWaitTimeMills",
    "sendThreadPoolQueueSize",
)
"""Nothing waits here, and while a put is done the core's clock stands still."""

_REPEATED_SETTINGS = (
    "pullThreadPoolQueueCapacity",
    "queryThreadPoolQueueCapacity",
    "sendThreadPoolQueueCapacity",
    "startAcceptSendRequestTimeStamp",
)
_SLOWER_PUTS = (
    *("[0~10ms]", "[10~50ms]", "[50~100ms]", "[100~200ms]", "[200~500ms]"),
    *("[500ms~1s]", "[1~2s]", "[2~3s]", "[3~4s]", "[4~5s]", "[5~10s]", "[10s~]"),
)


def runtime_info(state: BrokerState, request: Request) -> Response:
    """Return the state and statistics of the broker."""
    store, counted, texts = state.store, state.store.statistics, state.options.texts()
    log, pool = store.log.files, store.log.pool
    put_count = max(counted.put_count, 1)
    slower = "".join(f"{span}:0 " for span in _SLOWER_PUTS)
    total, free = store.disk_space()
    used = str((total - free) / total) if total > 0 else _NO_DIRECTORY
    has_queues = next(iter(store.queues), None) is not None
    table = {
        **dict.fromkeys(_ALWAYS_ZERO, "0"),
        **{name: texts[name] for name in _REPEATED_SETTINGS},
        "EndTransactionThreadPoolQueueCapacity": texts[
            "endTransactionPoolQueueCapacity"
        ],
        "bootTimestamp": str(state.started_at_ms),
        "brokerVersion": str(RELEASE_ORDINAL),
        "brokerVersionDesc": "V4_6_0",  # [ADMIN-CONFIG-002]
        "runtime": running_time(request.now_ms - state.started_at_ms),
        "getFoundTps": counted.rates("found"),
        "getMissTps": counted.rates("missed"),
        "getTotalTps": counted.read_rates(),
        "getTransferedTps": counted.rates("transferred"),
        "msgGetTotalTodayNow": str(counted.transferred_count),
        "msgPutTotalTodayNow": str(counted.put_count),
        "putMessageAverageSize": str(counted.put_size / put_count),
        "putMessageDistributeTime": f"[<=0ms]:{counted.put_calls} {slower}",
        "putMessageSizeTotal": str(counted.put_size),
        "putMessageTimesTotal": str(put_count),
        "putTps": counted.rates("put"),
        "commitLogMaxOffset": str(log.end),
        "commitLogMinOffset": str(log.start),
        "earliestMessageTimeStamp": str(_earliest_ms(state)),
        "remainHowManyDataToFlush": readable_size(log.end - log.flushed),
        "remainTransientStoreBufferNumbs": str(_NO_POOL if pool is None else pool.free),
        "commitLogDirCapacity": (
            f"Total : {readable_size(total)}, Free : {readable_size(free)}."
        ),
        "commitLogDiskRatio": used if len(log) > 0 else _NO_DIRECTORY,
        "consumeQueueDiskRatio": used if has_queues else _NO_DIRECTORY,
    }
    if pool is not None:
        table["remainHowManyDataToCommit"] = readable_size(pool.end - log.end)
    for level, offset in store.schedule_service.offsets.items():
        end = store.max_offset(SCHEDULE_TOPIC, level - 1)
        table[f"scheduleMessageOffset_{level}"] = f"{offset},{end}"
    return json_response({"table": table})


def running_time(duration_ms: int) -> str:
    """Return a duration as 4.6.0 words it."""
    minutes, seconds = divmod(duration_ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"[ {days:,} days, {hours} hours, {minutes} minutes, {seconds} seconds ]"


def readable_size(size: int) -> str:
    """Return a count of bytes as people read it: ``512 B`` or ``1.5 GiB``."""
    if size < 1024:
        return f"{size} B"
    power = min(int(math.log(size) / math.log(1024)), 6)
    return f"{size / 1024**power:.1f} {'KMGTPE'[power - 1]}iB"


def _earliest_ms(state: BrokerState) -> int:
    """Return the store time of the first message in the commit log, or -1.

    It is -1 without a message. 4.6.0 also returns -1 while the log's first file has
    less than twice maxMessageSize.
    """
    log = state.store.log.files
    held = min(log.end - max(log.start, 0), log.file_size)
    if held < 2 * state.options.max_message_size:
        return -1  # [ADMIN-CONFIG-004]
    data = state.store.record_at(log.start)
    return -1 if data is None else decode_record(data, check_crc=False).stored_at_ms
