"""
What an operator does next about each kind of finding: one sentence each.

The sentences are for people who have a broker to start. Where a command helps it is
named; nothing here is done by an audit, which only reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from spark_checks.findings import Finding

_RECOVER = "`rmqc recover STORE --release RELEASE --dry-run`"
_BUILD_ANEW = (
    "Stop the broker and move the whole directory consumequeue out of the store: the"
    " next start builds all queues anew from the commit log, which takes a while."
)
ADVICE = {
    "INV-FILE-001": "Move the foreign file out of the store before the broker starts.",
    "INV-FILE-002": "Bring the whole file back from a slave or a backup, or check that"
    " the broker's configuration has the size that the other files have.",
    "INV-FILE-003": "Bring the missing files back from a slave or a backup before the"
    f" broker starts, and ask {_RECOVER} what it would lose without them.",
    "INV-FILE-004": _BUILD_ANEW,
    "INV-LOG-001": f"Ask {_RECOVER} where a start would end the log, and copy what"
    " stands behind the damage from a slave or a backup first.",
    "INV-LOG-002": "Take the record from a slave or backup: `rmqc inspect FILE@OFFSET`"
    " shows it with the byte that is wrong.",
    "INV-LOG-003": "Look at the record with `rmqc inspect FILE@OFFSET`, and compare the"
    " file with a slave's.",
    "INV-LOG-004": f"Ask {_RECOVER} what a start would drop, and bring the file's end"
    " back from a slave or a backup.",
    "INV-LOG-005": "Compare the file with a slave's, and tell the owners of the queue's"
    " groups which offsets are affected.",
    "INV-LOG-006": "Look at the record with `rmqc inspect FILE@OFFSET`, and send the"
    " message again if its consumers need its tag or keys.",
    "INV-LOG-007": "Ask who produces the message whether it sets these flags; if not,"
    " take the record from a slave.",
    "INV-LOG-008": "Check the broker's clock, and do not trust searches by time around"
    " this record.",
    "INV-LOG-009": "Have the message sent again, and let the group skip it with"
    " `mqadmin resetOffsetByTime` or `mqadmin skipAccumulatedMessage`.",
    "INV-LOG-010": "Compare the record with a slave's by `rmqc inspect FILE@OFFSET`:"
    " one of the two is as it was stored.",
    "INV-CHECK": "Stop the broker cleanly and start it once, so that it writes the"
    " checkpoint anew; keep a copy of the store until it has.",
    "INV-CONFIG-001": "Put the .bak file, or the file of another broker of the cluster,"
    " in its place before the broker starts.",
    "INV-CONFIG-002": "Create the topic with `mqadmin updateTopic` before the broker"
    " next cleans up unused topics.",
    "INV-CONFIG-003": "Have the broker write its configuration twice, for instance by"
    " `mqadmin updateTopic` of any topic, and audit again.",
    "INV-CONFIG": "Compare the file with that of another broker of the cluster.",
    "INV-OFFSET-001": "Set the group's offset with `mqadmin resetOffsetByTime`.",
    "INV-OFFSET-002": "Stop the broker, set the level's offset in"
    " config/delayOffset.json to its queue's end, and start it again.",
    "INV-OFFSET": "Compare the group's offsets with `mqadmin consumerProgress`.",
    "INV-CQ": _BUILD_ANEW,
    "INV-EXT": "Stop the broker and move both consumequeue and consumequeue_ext out of"
    " the store: the next start builds all queues and their extensions anew.",
    "INV-LIGHT": "Stop the broker and move the light queue's directory out of"
    " consumequeue: the next start after a crash builds anew what the log still has.",
    "INV-BATCH": "Stop the broker and move the whole directory batchconsumequeue out of"
    " the store: the next start builds its queues anew from the commit log.",
    "INV-TXN": "Ask the producer group what became of these transactions, and watch"
    " with `mqadmin consumerProgress` whether their messages are still given out.",
    "INV-DELAY": "Look at the message with `mqadmin queryMsgByOffset`, and have it sent"
    " again if its consumers did not get it.",
    "INV-RETRY": "Look at the group with `mqadmin consumerProgress`, and at the message"
    " with `mqadmin queryMsgByOffset`.",
    "INV-INDEX": "Stop the broker and move the index file out of index: lookups by key"
    " of its messages end, and nothing else does.",
    "INV-AGAINST-001": "Decide which store is right by `rmqc audit` of each alone, and"
    " replace the other by a copy of it.",
    "INV-AGAINST-002": "Do not let the store that lacks them become the master; send"
    " them again from the other, where `mqadmin queryMsgByOffset` shows them.",
    "INV-AGAINST-003": "Copy the missing files from the other store while both brokers"
    " are stopped.",
    "INV-AGAINST-004": "Let the broker whose queue does not fit its own log, as"
    " `rmqc audit` of each alone tells, build it anew.",
}
"""A sentence for an invariant, or for all whose ids begin like this."""
OTHERWISE = "Keep a copy of the store before the broker is started on it."


def advice_for(invariant: str) -> str:
    """Return what to do about findings of *invariant*."""
    named = [
        key for key in ADVICE if invariant == key or invariant.startswith(f"{key}-")
    ]
    return ADVICE[max(named, key=len)] if named else OTHERWISE


def next_steps(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return a step for each kind of finding, the gravest and most frequent first."""
    found = list(findings)
    counts = Counter(finding.invariant.id for finding in found)
    kinds = {
        finding.invariant.id: finding
        for finding in sorted(found, key=lambda f: f.severity, reverse=True)
    }
    order = sorted(kinds, key=lambda name: (kinds[name].severity, -counts[name], name))
    return [
        {
            "invariant": name,
            "severity": str(kinds[name].severity),
            "count": counts[name],
            "cost": kinds[name].invariant.cost,
            "do": advice_for(name),
        }
        for name in order
    ]
