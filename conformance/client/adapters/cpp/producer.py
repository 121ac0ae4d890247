"""Producers of the C++ client."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from rocketmq.client import Producer
from rocketmq.exceptions import RocketMQException
from rocketmq.ffi import QUEUE_SELECTOR_CALLBACK

from conformance.client.adapters.cpp import library
from conformance.client.adapters.cpp.messages import base64_text, made
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

STATUS = (
    "SEND_OK",
    "FLUSH_DISK_TIMEOUT",
    "FLUSH_SLAVE_TIMEOUT",
    "SLAVE_NOT_AVAILABLE",
)
DEFAULT_TIMEOUT_MS = 3000

SUPPORTED = dict.fromkeys(
    (
        *("instance_name", "send_timeout_ms", "retries", "async_retries"),
        *("compress_over", "max_message_size", "credentials"),
    ),
    ANY,
)

Respond = Callable[[Line], None]


class StartedProducer:
    """A producer of the C++ client."""

    def __init__(self, line: Line) -> None:
        require_options(line, SUPPORTED)
        if line.get("options", {}).get("async_retries") == 0:
            raise UnsupportedError("option async_retries 0, which it replaces by 1")
        self._producer = Producer(line["group"])
        self._handle = self._producer._handle
        self._timeout_ms = DEFAULT_TIMEOUT_MS
        self._callbacks: list[object] = []
        """Callbacks into Python, which must live as long as their calls."""
        self._producer.set_namesrv_addr(line["namesrv"])
        instance = instance_of(line)
        library.set_producer_instance(self._handle, instance)
        set_options(
            line,
            {
                "send_timeout_ms": self._set_timeout,
                "retries": self._set_retries,
                "async_retries": lambda count: library.set_async_retry_times(
                    self._handle, count
                ),
                "compress_over": lambda size: library.set_compress_over(
                    self._handle, size
                ),
                "max_message_size": self._producer.set_max_message_size,
                "credentials": lambda given: set_credentials(self._producer, given),
            },
        )
        start(self._producer)

    def stop(self) -> None:
        """Shut the producer down."""
        self._producer.shutdown()

    def send(self, line: Line, respond: Respond) -> Line | None:
        """Send as *line* requires; return the result, or None if *respond* gets it."""
        if "transaction" in line:
            raise UnsupportedError("no transactions in its C functions")
        timeout_ms = line.get("timeout_ms")
        if timeout_ms is not None:  # the client has no timeout of a call
            self._producer.set_timeout(timeout_ms)
        try:
            return self._send(line, respond)
        except (RocketMQException, AssertionError) as error:  # an empty batch
            raise client_error(str(error)) from None
        finally:
            if timeout_ms is not None:
                self._producer.set_timeout(self._timeout_ms)

    def _send(self, line: Line, respond: Respond) -> Line | None:
        position = line.get("select")
        if "messages" in line:
            if line["mode"] != "sync" or position is not None:
                raise UnsupportedError("a batch is only sent synchronously")
            messages = [made(one) for one in line["messages"]]
            return _result(self._producer.send_batch(messages), line)
        message = made(line["message"])
        if line["mode"] == "async":
            self._send_async(message, position, line, respond)
            return None
        if line["mode"] == "oneway":
            if position is None:
                self._producer.send_oneway(message)
            else:
                self._producer.send_oneway_orderly(message, position, _at(position))
            return {}
        if position is None:
            sent = self._producer.send_sync(message)
        else:
            sent = self._producer.send_orderly(message, position, 0, _at(position))
        body = library.body_of(message._handle)
        return {**_result(sent, line), "body_after": base64_text(body)}

    def _send_async(
        self, message: Any, position: int | None, line: Line, respond: Respond
    ) -> None:
        def on_success(sent: Any) -> None:
            result = {
                "status": STATUS[sent.sendStatus],
                "message_id": sent.msgId.decode(),
                "queue_offset": str(sent.offset),
                "topic": line["message"]["topic"],
            }
            respond({"id": line["id"], "result": result})

        def on_exception(error: Any) -> None:
            text = error.msg.decode("utf-8", "replace")
            failed = client_error(text, error.error)
            found = {"kind": failed.kind, "code": failed.code, "text": text}
            respond({"id": line["id"], "error": found})

        callbacks = (
            library.SUCCESS_CALLBACK(on_success),
            library.EXCEPTION_CALLBACK(on_exception),
        )
        # The message too is used until the callback.
        self._callbacks += [*callbacks, message]
        if position is None:
            status = library.send_async(self._handle, message, *callbacks)
        else:
            chosen = QUEUE_SELECTOR_CALLBACK(lambda *_: position)
            self._callbacks.append(chosen)
            argument = ctypes.cast(
                ctypes.pointer(ctypes.c_int(position)), ctypes.c_void_p
            )
            status = library.send_async_to(
                self._handle, message, chosen, argument, *callbacks
            )
        if status:
            raise RocketMQException(library.latest_error())

    def _set_timeout(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._producer.set_timeout(timeout_ms)

    def _set_retries(self, retries: int) -> None:
        """Set the number of attempts, which the client calls retry times."""
        library.set_retry_times(self._handle, retries + 1)


def _at(position: int) -> Callable[..., int]:
    return lambda *_: position


def _result(sent: Any, line: Line) -> Line:
    """Return the result of a send: the C functions name neither broker nor queue."""
    topic = line.get("message", {}).get("topic") or line["messages"][0]["topic"]
    return {
        "status": STATUS[sent.status],
        "message_id": sent.msg_id,
        "queue_offset": str(sent.offset),
        "topic": topic,
    }
