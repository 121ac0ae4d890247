"""Hooks for tests."""

from __future__ import annotations

from reference.core.client.hooks import ConsumeContext, SendContext


class RecordingHook:
    """A hook of either kind that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, object]] = []

    def before(self, context: SendContext | ConsumeContext) -> None:
        """Record the begin of an attempt or of consumption."""
        self.calls.append(("before", _shown(context)))

    def after(self, context: SendContext | ConsumeContext) -> None:
        """Record the result."""
        self.calls.append(("after", _shown(context)))


class RaisingHook:
    """A hook that always raises."""

    def before(self, _context: object) -> None:
        """Raise an error."""
        raise RuntimeError("before")

    def after(self, _context: object) -> None:
        """Raise an error."""
        raise RuntimeError("after")


def _shown(context: SendContext | ConsumeContext) -> object:
    if isinstance(context, ConsumeContext):
        return context.outcome
    if context.failure is not None:
        return context.failure.reason
    return context.result and context.result.status.value
