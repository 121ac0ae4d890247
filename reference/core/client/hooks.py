"""
Hooks of an application around sending and consuming (Java: SendMessageHook and others).

They are called in the order in which they were registered, at the same steps as in
4.6.0. An exception does not stop the next hook. Only a check-forbidden hook changes
the course of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, TypeVar

from msgspec import Struct

from reference.core.client.message import MessageQueue, Mode, SendResult
from reference.core.client.producer.send_request import PreparedMessage
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.unexpected import error_text

CONSUME_TIMEOUT_MS = 15 * 60_000
"""Consumption that takes longer is TIME_OUT for hooks (Java: consumeTimeout)."""

Context = TypeVar("Context")


class SendContext(Struct, kw_only=True):
    """One attempt to send a message (Java: SendMessageContext)."""

    group: str
    mode: Mode
    queue: MessageQueue
    address: str
    message: PreparedMessage
    """Compressed if it is large. A hook may replace it."""
    result: SendResult | None = None
    failure: Failure | None = None


class SendHook(Protocol):
    """Observer of every attempt to send (Java: SendMessageHook)."""

    def before(self, context: SendContext) -> None:
        """Observe an attempt before its request is sent."""

    def after(self, context: SendContext) -> None:
        """Observe the result of an attempt.

        An asynchronous send has two calls: without a result after the request, and
        with the final one after its retries. A oneway send has one without a result.
        """


CheckForbiddenHook = Callable[[SendContext], None]
"""Raises ClientError to forbid an attempt (Java: CheckForbiddenHook)."""


class SendHooks(Struct, frozen=True, kw_only=True):
    """The hooks of a producer."""

    forbid: tuple[CheckForbiddenHook, ...] = ()
    """Called before *hooks*."""
    hooks: tuple[SendHook, ...] = ()

    def before(self, context: SendContext) -> Failure | None:
        """Run the hooks before an attempt; return a failure if one forbids it.

        A ClientError is retried like a failed connection. Any other exception ends
        the call.
        """
        try:
            for check in self.forbid:
                check(context)
        except ClientError as error:
            remark = error.failure.remark or str(error)
            return Failure(reason=Reason.FORBIDDEN, remark=remark)
        except Exception as error:  # an application's own, of any kind
            return Failure(reason=Reason.HOOK_FAILED, remark=error_text(error))
        call_hooks((hook.before for hook in self.hooks), context)
        return None

    def after(
        self, context: SendContext | None, result: SendResult | Failure | None
    ) -> None:
        """Run the hooks after an attempt, if they ran before it.

        None is a result that is not there yet.
        """
        if context is None:
            return
        if isinstance(result, Failure):
            context.failure = result
        else:
            context.result = result
        call_hooks((hook.after for hook in self.hooks), context)


class ConsumeReturnType(StrEnum):
    """Result of consumption (Java: ConsumeReturnType)."""

    SUCCESS = "SUCCESS"
    TIME_OUT = "TIME_OUT"
    EXCEPTION = "EXCEPTION"
    FAILED = "FAILED"


class ConsumeContext(Struct, kw_only=True):
    """A message that the application consumes (Java: ConsumeMessageContext)."""

    group: str
    queue: MessageQueue
    message: MessageExt
    begun_ms: int
    outcome: ConsumeReturnType | None = None
    is_success: bool = False


class ConsumeHook(Protocol):
    """Observer of every consumed message (Java: ConsumeMessageHook)."""

    def before(self, context: ConsumeContext) -> None:
        """Observe a message before the listener is called."""

    def after(self, context: ConsumeContext) -> None:
        """Observe the result, before the message is sent back or removed."""


class ConsumeHooks:
    """The hooks of a consumer, and the contexts of messages being consumed."""

    def __init__(
        self, group: str, hooks: Sequence[ConsumeHook], clock: Callable[[], int]
    ) -> None:
        self._group = group
        self._hooks = hooks
        self._now_ms = clock
        self._contexts: dict[tuple[MessageQueue, int], ConsumeContext] = {}

    def before(self, queue: MessageQueue, messages: Iterable[MessageExt]) -> None:
        """Run the hooks before *messages* are consumed, for each message."""
        for message in messages if self._hooks else ():
            context = ConsumeContext(
                group=self._group, queue=queue, message=message, begun_ms=self._now_ms()
            )
            self._contexts[queue, message.record.queue_offset] = context
            call_hooks((hook.before for hook in self._hooks), context)

    def after(
        self,
        queue: MessageQueue,
        messages: Iterable[MessageExt],
        failed: Sequence[MessageExt] = (),
        *,
        error: str | None = None,
    ) -> None:
        """Run the hooks with the results; *error* is the listener's exception."""
        for message in messages if self._hooks else ():
            key = queue, message.record.queue_offset
            context = self._contexts.pop(key, None)
            if context is None:
                continue
            context.is_success = message not in failed
            is_late = self._now_ms() - context.begun_ms >= CONSUME_TIMEOUT_MS
            if error is not None and not context.is_success:
                context.outcome = ConsumeReturnType.EXCEPTION
            elif is_late:
                context.outcome = ConsumeReturnType.TIME_OUT
            elif context.is_success:
                context.outcome = ConsumeReturnType.SUCCESS
            else:
                context.outcome = ConsumeReturnType.FAILED
            call_hooks((hook.after for hook in self._hooks), context)


def call_hooks(calls: Iterable[Callable[[Context], None]], context: Context) -> None:
    """Call each hook, also after one that raised an exception."""
    for call in calls:
        with suppress(Exception):
            call(context)
