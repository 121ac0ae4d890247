"""The application's side of a client: its start and stop, and the calls to the core."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from reference.core.client.client_instance import GroupMember
from reference.core.client.remoting.tasks import Task, Value
from reference.shell.client.client_host import ClientHost

Arguments = ParamSpec("Arguments")
Member = TypeVar("Member", bound=GroupMember)


class RunningClient(Generic[Member]):
    """A producer or consumer that runs while its context is entered."""

    def __init__(self, core: Member, host: ClientHost) -> None:
        self.core = core
        self.host = host

    async def __aenter__(self) -> Self:
        self.core.start()
        self.host.perform()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.core.stop()
        await self.host.stop()


def forward_call(
    method: Callable[Concatenate[Any, Arguments], Task[Value]],
) -> Callable[Concatenate[RunningClient[Any], Arguments], Coroutine[Any, Any, Value]]:
    """Build the application's form of a task of the core."""

    @wraps(method)
    async def run(
        client: RunningClient[Any], /, *given: Arguments.args, **named: Arguments.kwargs
    ) -> Value:
        return await client.host.call(method(client.core, *given, **named))

    return run


def forward(
    method: Callable[Concatenate[Any, Arguments], None],
) -> Callable[Concatenate[RunningClient[Any], Arguments], None]:
    """Build the application's form of a *method* of the core that has no result."""

    @wraps(method)
    def run(
        client: RunningClient[Any], /, *given: Arguments.args, **named: Arguments.kwargs
    ) -> None:
        method(client.core, *given, **named)
        client.host.perform()

    return run
