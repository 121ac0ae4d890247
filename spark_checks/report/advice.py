"""
Next step of an operator for each kind of finding.

The advice is for people who must start a broker, and names a command if one helps. An
audit itself only reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from spark_checks.findings import Finding

_RECOVER = "`rmqc recover STORE --release RELEASE --dry-run`"
_BUILD_ANEW = (
    "Stop the broker and move the whole directory consumequeue out of the store: the"
    " next start rebuilds all queues from the commit log, which takes a while."
)
ADVICE = {
    "INV-FILE-001": "Move the file out of the store before the broker starts.",
    "INV-FILE-002": "Bring the whole file back from a slave or a backup, or check that"
    " the broker's configuration has the size that the other files have.",
    "INV-FILE-003": "Bring the missing files back from a slave or a backup before the"
    f" broker starts. {_RECOVER} shows what it would lose without them.",
    "INV-FILE-004": _BUILD_ANEW,
    "INV-LOG-001": f"Run {_RECOVER} to see where a start would truncate the log. Copy"
    " the records behind the damage from a slave or a backup first.",
    "INV-LOG-002": "Take the record from a slave or backup: `rmqc inspect FILE@OFFSET`"
    " shows it with the wrong byte.",
    "INV-LOG-003": "Look at the record with `rmqc inspect FILE@OFFSET`, and compare the"
    " file with a slave's.",
    "INV-LOG-004": f"Run {_RECOVER} to see what a start would drop. Bring the file's"
    " end back from a slave or a backup.",
    "INV-LOG-005": "Compare the file with a slave's, and inform the owners of the"
    " queue's groups about the affected offsets.",
    "INV-LOG-006": "Look at the record with `rmqc inspect FILE@OFFSET`, and send the"
    " message again if its consumers need its tag or keys.",
    "INV-LOG-007": "Check whether the producer of the message sets these flags. If not,"
    " take the record from a slave.",
    "INV-LOG-008": "Check the broker's clock, and do not trust searches by time around"
    " this record.",
    "INV-LOG-009": "Have the message sent again, and skip it for the group with"
    " `mqadmin resetOffsetByTime` or `mqadmin skipAccumulatedMessage`.",
    "INV-LOG-010": "Compare the record with a slave's by `rmqc inspect FILE@OFFSET`:"
    " one of the two is as stored.",
    "INV-CHECK": "Stop the broker cleanly and start it once, so that it writes a"
    " new checkpoint. Keep a copy of the store until then.",
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
    " the store: the next start rebuilds all queues and their extensions.",
    "INV-LIGHT": "Stop the broker and move the LMQ's directory out of consumequeue. The"
    " next start after a crash rebuilds it from the log.",
    "INV-BATCH": "Stop the broker and move the whole directory batchconsumequeue out of"
    " the store: the next start rebuilds its queues from the commit log.",
    "INV-TXN": "Check these transactions with the producer group, and watch with"
    " `mqadmin consumerProgress` whether their messages are still delivered.",
    "INV-DELAY": "Look at the message with `mqadmin queryMsgByOffset`, and have it sent"
    " again if its consumers did not get it.",
    "INV-RETRY": "Look at the group with `mqadmin consumerProgress`, and at the message"
    " with `mqadmin queryMsgByOffset`.",
    "INV-INDEX": "Stop the broker and move the index file out of index: lookups by key"
    " of its messages fail, and nothing else does.",
    "INV-AGAINST-001": "Decide which store is right by `rmqc audit` of each alone, and"
    " replace the other by a copy of it.",
    "INV-AGAINST-002": "Do not make the store that lacks them the master. Send"
    " them again from the other, where `mqadmin queryMsgByOffset` shows them.",
    "INV-AGAINST-003": "Copy the missing files from the other store while both brokers"
    " are stopped.",
    "INV-AGAINST-004": "Rebuild the queue on the broker whose queue does not fit its"
    " own log, as `rmqc audit` of each store alone shows.",
}
"""Advice by invariant, or by prefix of invariant ids."""
OTHERWISE = "Keep a copy of the store before the broker is started on it."


def advice_for(invariant: str) -> str:
    """Return the advice for findings of *invariant*."""
    named = [
        key for key in ADVICE if invariant == key or invariant.startswith(f"{key}-")
    ]
    return ADVICE[max(named, key=len)] if named else OTHERWISE


def next_steps(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return a step per kind of finding, ordered by severity and frequency."""
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
