"""Producers of messages that reach their queue later: delayed and half ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.harness.client.client import Client
from conformance.recovery.load import Acknowledged, Draft, acknowledged
from spec.wire.message.properties import Property
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

COMMIT = 8


def send_delayed(client: Client, drafts: Sequence[Draft]) -> list[Acknowledged]:
    """Send the first of *drafts*, to be delivered at the first or second level."""
    level = 1 + drafts[0].queue_id % 2
    return _send(client, drafts[0], {Property.DELAY: str(level)})


class Transactions:
    """Sends half messages, of which it commits every other."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.pending: list[Acknowledged] = []
        """Those that were answered, and never committed."""
        self._count = 0

    def send(self, client: Client, drafts: Sequence[Draft]) -> list[Acknowledged]:
        """Send the first of *drafts*; return it if its commit was answered, too."""
        properties: dict[str, str] = {
            Property.TRAN_MSG: "true",
            Property.PGROUP: self.group,
            Property.UNIQ_KEY: drafts[0].key,
        }
        halves = _send(client, drafts[0], properties)
        self._count += 1
        if self._count % 2:
            self.pending += halves
            return []
        # A kill during the commit leaves both outcomes possible.
        return [
            half
            for half in halves
            if end(client, self.group, half).code == ResponseCode.SUCCESS
        ]


def end(client: Client, group: str, half: Acknowledged) -> Command:
    """Commit a half message; return the response."""
    return client.end_transaction(
        group=group,
        commit_log_offset=half.commit_log_offset,
        queue_offset=half.queue_offset,
        decision=COMMIT,
        message_id=half.key,
        transaction_id=half.key,
    )


def _send(
    client: Client, draft: Draft, properties: Mapping[str, str]
) -> list[Acknowledged]:
    response = client.send_message(
        topic=draft.topic,
        queue_id=draft.queue_id,
        body=draft.body,
        properties={Property.KEYS: draft.key, **properties},
    )
    return list(acknowledged([draft], response))
