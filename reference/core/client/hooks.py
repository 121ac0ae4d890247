"""
Hooks: what an application is told of a message on its way, and may forbid or leave out.

They are called where 4.6.0 calls them, in the order in which they were given. One that
throws is passed over, and the next one is called; only who forbids is heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.message import Mode, Queue, SendResult
from reference.core.client.pulling import Received
from reference.core.client.send_request import Outgoing

CONSUME_TIMEOUT_MS = 15 * 60_000
"""Who handles a message for longer is told to hooks as late (Java: consumeTimeout)."""

Told = TypeVar("Told")


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One attempt to send a message (Java: SendMessageContext)."""

    group: str
    mode: Mode
    queue: Queue
    address: str
    message: Outgoing
    """As it will be sent, compressed if it is large; what a hook puts here is sent."""
    result: SendResult | None = None
    failure: Failure | None = None


class SendHook(Protocol):
    """Is told of every attempt to send."""

    def before(self, attempt: Attempt) -> None:
        """Be told before the request is made."""

    def after(self, attempt: Attempt) -> None:
        """Be told what came of it.

        Of an asynchronous send twice: when it is on its way, without a result, and in
        the end, whatever was repeated between. Of a oneway send without a result.
        """


Forbids = Callable[[Attempt], None]
"""Raises ClientError if the attempt may not be made (Java: CheckForbiddenHook)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendHooks:
    """The hooks of a producer."""

    forbid: tuple[Forbids, ...] = ()
    """Asked first, before any of *told* hears of the attempt."""
    told: tuple[SendHook, ...] = ()

    def begin(self, attempt: Attempt) -> Failure | None:
        """Return why *attempt* may not be made; else tell of it, and return None.

        Forbidden by a ClientError it has failed like any that nobody could be reached
        for: a synchronous send is tried again. Whatever else is thrown ends the call.
        """
        try:
            for forbids in self.forbid:
                forbids(attempt)
        except ClientError as error:
            remark = error.failure.remark or str(error)
            return Failure(reason=Reason.FORBIDDEN, remark=remark)
        except Exception as error:  # an application's own, of any kind
            remark = f"{type(error).__name__}: {error}"
            return Failure(reason=Reason.HOOK_FAILED, remark=remark)
        tell((hook.before for hook in self.told), attempt)
        return None

    def end(self, attempt: Attempt, found: SendResult | Failure | None) -> None:
        """Tell what came of *attempt*; None is nothing so far."""
        if isinstance(found, Failure):
            attempt.failure = found
        else:
            attempt.result = found
        tell((hook.after for hook in self.told), attempt)


class Handled(StrEnum):
    """What came of a message at the application (Java: ConsumeReturnType)."""

    SUCCESS = "SUCCESS"
    LATE = "TIME_OUT"
    THREW = "EXCEPTION"
    FAILED = "FAILED"


@dataclass(slots=True, kw_only=True)
class Handling:
    """A message in the application's hands (Java: ConsumeMessageContext)."""

    group: str
    queue: Queue
    message: Received
    begun_ms: int
    outcome: Handled | None = None
    """None until it was handled."""
    is_success: bool = False


class ConsumeHook(Protocol):
    """Is told of every message that the application takes."""

    def before(self, handling: Handling) -> None:
        """Be told before the application has it."""

    def after(self, handling: Handling) -> None:
        """Be told what came of it, before it goes back or counts as handled."""


class ConsumeHooks:
    """The hooks of a consumer, and the messages of which they wait to hear."""

    def __init__(self, group: str, hooks: Sequence[ConsumeHook]) -> None:
        self._group = group
        self._hooks = hooks
        self._under_way: dict[tuple[Queue, int], Handling] = {}

    def begin(self, queue: Queue, messages: Iterable[Received], now_ms: int) -> None:
        """Tell that the application takes *messages*, each by itself."""
        for message in messages if self._hooks else ():
            handling = Handling(
                group=self._group, queue=queue, message=message, begun_ms=now_ms
            )
            self._under_way[queue, message.record.queue_offset] = handling
            tell((hook.before for hook in self._hooks), handling)

    def end(
        self,
        queue: Queue,
        messages: Iterable[Received],
        failed: Sequence[Received] = (),
        *,
        error: str | None = None,
        now_ms: int,
    ) -> None:
        """Tell what came of *messages*; *failed* are not handled, if of an *error*."""
        for message in messages if self._hooks else ():
            place = queue, message.record.queue_offset
            handling = self._under_way.pop(place, None)
            if handling is None:
                continue
            handling.is_success = message not in failed
            is_late = now_ms - handling.begun_ms >= CONSUME_TIMEOUT_MS
            if error is not None and not handling.is_success:
                handling.outcome = Handled.THREW
            elif is_late:
                handling.outcome = Handled.LATE
            elif handling.is_success:
                handling.outcome = Handled.SUCCESS
            else:
                handling.outcome = Handled.FAILED
            tell((hook.after for hook in self._hooks), handling)


def tell(calls: Iterable[Callable[[Told], None]], told: Told) -> None:
    """Call each of *calls*, whatever those before it have thrown."""
    for call in calls:
        with suppress(Exception):
            call(told)
