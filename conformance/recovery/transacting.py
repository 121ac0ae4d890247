"""Producers of messages that are not in their queue at once: delayed and half ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.harness.speaker import Speaker
from conformance.recovery.load import Acknowledged, Draft, acknowledged
from spec.wire.command import Command
from spec.wire.properties import Property
from spec.wire.response_code import ResponseCode

COMMIT = 8


def send_delayed(speaker: Speaker, drafts: Sequence[Draft]) -> list[Acknowledged]:
    """Send the first of *drafts*, to be delivered at the first or second level."""
    level = 1 + drafts[0].queue_id % 2
    return _send(speaker, drafts[0], {Property.DELAY: str(level)})


class Transactions:
    """Sends half messages, of which it commits every other."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.pending: list[Acknowledged] = []
        """Those that were answered, and never committed."""
        self._count = 0

    def send(self, speaker: Speaker, drafts: Sequence[Draft]) -> list[Acknowledged]:
        """Send the first of *drafts*; return it if its commit was answered, too."""
        properties: dict[str, str] = {
            Property.TRAN_MSG: "true",
            Property.PGROUP: self.group,
            Property.UNIQ_KEY: drafts[0].key,
        }
        halves = _send(speaker, drafts[0], properties)
        self._count += 1
        if self._count % 2:
            self.pending += halves
            return []
        # Who dies during the commit is owed nothing: it may be either.
        return [
            half
            for half in halves
            if end(speaker, self.group, half).code == ResponseCode.SUCCESS
        ]


def end(speaker: Speaker, group: str, half: Acknowledged) -> Command:
    """Commit a half message; return the answer."""
    return speaker.end_transaction(
        group=group,
        commit_log_offset=half.commit_log_offset,
        queue_offset=half.queue_offset,
        decision=COMMIT,
        message_id=half.key,
        transaction_id=half.key,
    )


def _send(
    speaker: Speaker, draft: Draft, properties: Mapping[str, str]
) -> list[Acknowledged]:
    answer = speaker.send_message(
        topic=draft.topic,
        queue_id=draft.queue_id,
        body=draft.body,
        properties={Property.KEYS: draft.key, **properties},
    )
    return list(acknowledged([draft], answer))
