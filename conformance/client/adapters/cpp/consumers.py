"""Push and pull consumers of the C++ client."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable

from rocketmq.client import PullConsumer, PushConsumer, RecvMessage
from rocketmq.exceptions import ffi_check
from rocketmq.ffi import MSG_CALLBACK_FUNC, MessageModel, _CMessageQueue, dll

from conformance.client.adapters.cpp import library
from conformance.client.adapters.cpp.messages import shown
from conformance.client.adapters.cpp.options import (
    ANY,
    client_error,
    instance_of,
    require_options,
    set_credentials,
    set_options,
    start,
)
from conformance.client.adapters.template import Line, UnsupportedError

CONSUME_SUCCESS, RECONSUME_LATER = 0, 1
PUSH_SUPPORTED: dict[str, object] = {
    **dict.fromkeys(
        ("instance_name", "threads", "threshold_count", "credentials"), ANY
    ),
    "allocation": "AVG",
}
HELD_MAX = 1000
"""More calls of a listener than are held with the same keys."""
PULL_STATUS = ("FOUND", "NO_NEW_MSG", "NO_MATCHED_MSG", "OFFSET_ILLEGAL")


class StartedPushConsumer:
    """A push consumer of the C++ client, with the listener of the application."""

    def __init__(self, line: Line, emit: Callable[[Line], None]) -> None:
        self._name = line["name"]
        self._emit = emit
        self._outcomes = line.get("outcomes", {})
        self._deliveries: dict[str, itertools.count[int]] = {}
        self._held: dict[str, threading.Semaphore] = {}
        self._lock = threading.Lock()
        self._is_stopping = False
        require_options(line, PUSH_SUPPORTED)
        for subscription in line["subscriptions"]:
            if subscription.get("type", "TAG") != "TAG":
                raise UnsupportedError(f"type {subscription['type']}")
        is_orderly = line.get("order") == "orderly"
        model = (
            MessageModel.BROADCASTING
            if line.get("model") == "broadcasting"
            else MessageModel.CLUSTERING
        )
        self._consumer = PushConsumer(line["group"], is_orderly, model)
        handle = self._consumer._handle
        self._consumer.set_namesrv_addr(line["namesrv"])
        self._consumer.set_instance_name(instance_of(line))
        self._consumer.set_message_batch_max_size(1)
        is_first = line.get("from") == "first"
        library.set_consume_from_where(
            handle,
            library.CONSUME_FROM_FIRST_OFFSET
            if is_first
            else library.CONSUME_FROM_LAST_OFFSET,
        )
        set_options(
            line,
            {
                "threads": self._consumer.set_thread_count,
                "threshold_count": lambda n: library.set_threshold_count(handle, n),
                "credentials": lambda given: set_credentials(self._consumer, given),
            },
        )
        for subscription in line["subscriptions"]:
            topic, expression = subscription["topic"], subscription["expression"]
            ffi_check(dll.Subscribe(handle, topic.encode(), expression.encode()))
        # The package's own callback raises: its result is then undefined.
        self._callback = MSG_CALLBACK_FUNC(self._consume)
        register = (
            dll.RegisterMessageCallbackOrderly
            if is_orderly
            else dll.RegisterMessageCallback
        )
        ffi_check(register(handle, self._callback))
        start(self._consumer)

    def stop(self) -> None:
        """Shut the consumer down, which waits for the listener's calls: they end."""
        self._is_stopping = True
        with self._lock:
            for gate in self._held.values():
                gate.release(HELD_MAX)
        self._consumer.shutdown()

    def release(self, keys: str) -> None:
        """End the listener's call that holds the message of these keys."""
        self._gate(keys).release()

    def _consume(self, _consumer: int, received: int) -> int:
        """Consume a message; return whether it is to come again."""
        message = shown(RecvMessage(received))
        keys = message["keys"] or ""
        outcome = self._outcome(keys)
        self._emit({"event": "message", "consumer": self._name, "message": message})
        if outcome == "hold":
            if not self._is_stopping:
                self._gate(keys).acquire()
            outcome = "success"
        is_done = outcome == "success"
        return CONSUME_SUCCESS if is_done else RECONSUME_LATER

    def _outcome(self, keys: str) -> str:
        words = self._outcomes.get(keys, [])
        with self._lock:
            number = next(self._deliveries.setdefault(keys, itertools.count()))
        return str(words[number]) if number < len(words) else "success"

    def _gate(self, keys: str) -> threading.Semaphore:
        with self._lock:
            return self._held.setdefault(keys, threading.Semaphore(0))


class StartedPullConsumer:
    """A pull consumer of the C++ client."""

    def __init__(self, line: Line) -> None:
        if line.get("model", "clustering") != "clustering":
            raise UnsupportedError(f"a pull consumer, {line['model']}")
        require_options(line, {"credentials": ANY})
        self._consumer = PullConsumer(line["group"])
        self._handle = self._consumer._handle
        self._consumer.set_namesrv_addr(line["namesrv"])
        set_options(
            line,
            {"credentials": lambda given: set_credentials(self._consumer, given)},
        )
        start(self._consumer)

    def stop(self) -> None:
        """Shut the consumer down."""
        self._consumer.shutdown()

    def queues(self, line: Line) -> Line:
        """Return the queues of a topic."""
        found = ctypes.POINTER(_CMessageQueue)()
        count = ctypes.c_int()
        status = dll.FetchSubscriptionMessageQueues(
            self._handle,
            line["topic"].encode(),
            ctypes.pointer(found),
            ctypes.pointer(count),
        )
        if status:
            raise client_error(library.latest_error())
        queues = [
            {
                "topic": found[n].topic.decode(),
                "broker": found[n].brokerName.decode(),
                "queue_id": found[n].queueId,
            }
            for n in range(count.value)
        ]
        dll.ReleaseSubscriptionMessageQueue(found)
        return {"queues": queues}

    def pull(self, line: Line) -> Line:
        """Pull from a queue: the client has one timeout for all pulls."""
        if "timeout_ms" in line:
            raise UnsupportedError("a timeout of a pull")
        queue = _CMessageQueue(
            line["queue"]["topic"].encode(),
            line["queue"]["broker"].encode(),
            line["queue"]["queue_id"],
        )
        pulled = dll.Pull(
            self._handle,
            ctypes.pointer(queue),
            line["expression"].encode(),
            int(line["offset"]),
            line["count"],
        )
        if pulled.pullStatus >= len(PULL_STATUS):
            raise client_error(library.latest_error())
        messages = [
            shown(RecvMessage(pulled.msgFoundList[n])) for n in range(pulled.size)
        ]
        dll.ReleasePullResult(pulled)
        return {
            "status": PULL_STATUS[pulled.pullStatus],
            "next_offset": str(pulled.nextBeginOffset),
            "min_offset": str(pulled.minOffset),
            "max_offset": str(pulled.maxOffset),
            "messages": messages,
        }
