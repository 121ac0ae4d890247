"""
What a broker of each release does with its files when it starts: the differences.

The rules themselves are functions in the modules ``recovery_*`` beside this one. They
take what they need as plain values, and one `RecoveryRules` that says which of two or
three ways a release goes. The reference starts by the same functions; what 4.6.0 does
against its own interest, the reference leaves (`REFERENCE`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from spec.store.message_record import MAGIC_V1, MAGIC_V2


class Stray(Enum):
    """What becomes of a file of the wrong size in a row of equal files."""

    ENDS_THE_ROW = "it and the files after it are not looked at"
    REFUSED = "the broker does not start"
    EMPTY_LAST_GOES = "an empty last one is deleted; otherwise it does not start"


class Dispatch(Enum):
    """Which records get units when a broker starts, after recovery."""

    NONE = "what is stored from now on"
    FROM_QUEUES = "what lies behind the last record that a queue points at"
    IN_THE_SCAN = "what recovery's scan finds behind that; nothing afterwards"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryRules:
    """How one release starts."""

    release: str
    assumed: str = ""
    """What is not known for sure about this release."""
    stray: Stray = Stray.REFUSED
    dispatch: Dispatch = Dispatch.FROM_QUEUES
    begins_by_queues: bool = False
    """After a stop, recovery begins where the queues end, not at the last but two."""
    magics: frozenset[int] = frozenset({MAGIC_V1})
    knows_v6: bool = True
    """The bits of IPv6 hosts in a record's flags mean something."""
    checks_room: bool = False
    """A size is compared with the bytes that are left before anything else is read."""
    end_is_last_begin: bool = False
    """What a queue remembers is where its last record begins, not where it ends."""
    queues_go_with_log: bool = True
    """After a stop, too, queues are deleted where the commit log has no file."""
    keeps_place: bool = False
    """A queue that loses all its units goes on where they were, not at offset 0."""
    trusts_first_unit: bool = True
    """A cut takes the first unit of a queue's last file for one, whatever it holds."""
    stops_at_steps_back: bool = False
    """A unit that points before the end of the one before it ends its queue: a power
    cut leaves such of a unit that lay on two pages."""
    repairs_units: bool = False
    """A record dispatched again, whose unit points at it, gets the unit it should have:
    a power cut may have left a part of it."""
    waits_at_holes: bool = True
    """A start waits until dispatch is through, and dispatch does not pass a hole."""
    dispatches_behind_the_end: bool = True
    """Dispatch begins where a queue points, even if the log is not that long."""
    reads_negative_as_zero: bool = True
    """A body or properties of a negative size are taken for none."""
    makes_any_array: bool = True
    """A record's size is taken for granted: one that no memory has ends the start."""
    fails_on_empty_last_file: bool = False
    """A queue whose last file has no unit, but others have, ends the start."""
    keeps_filling_index_files: bool = True
    """After a crash, too, an index file that is not full is kept if its time is old
    enough; only full ones are known to be on disk."""
    corrects_delay_offsets: bool = False
    """Delay offsets outside their queue are set to its bounds."""
    has_timer: bool = False
    """Timed messages have files of their own, which are loaded, too."""
    needs_index_files: bool = False
    """An index file that cannot be opened ends the start."""
    clears_tail: bool = False
    """What is cut off is made zeros, so that nobody finds it again."""


_V4_5 = RecoveryRules(release="4.6.0")
_V5 = replace(
    _V4_5,
    release="5.3.3",
    stray=Stray.EMPTY_LAST_GOES,
    dispatch=Dispatch.IN_THE_SCAN,
    begins_by_queues=True,
    magics=frozenset({MAGIC_V1, MAGIC_V2}),
    checks_room=True,
    makes_any_array=False,
    waits_at_holes=False,
    fails_on_empty_last_file=True,
    corrects_delay_offsets=True,
    has_timer=True,
    needs_index_files=True,
)
RULES: Mapping[str, RecoveryRules] = {
    "4.4.0": replace(
        _V4_5,
        release="4.4.0",
        stray=Stray.ENDS_THE_ROW,
        dispatch=Dispatch.NONE,
        knows_v6=False,
        end_is_last_begin=True,
        queues_go_with_log=False,
        waits_at_holes=False,
    ),
    "4.6.0": _V4_5,
    "4.9.7": replace(_V4_5, release="4.9.7", corrects_delay_offsets=True),
    "5.3.3": _V5,
    "5.4.0": replace(
        _V5,
        release="5.4.0",
        assumed="5.4.0 is taken for 5.3.3; it chooses otherwise where recovery begins",
    ),
}
"""By release; each was read in the source of its tag, but for 5.4.0."""

REFERENCE = replace(
    RULES["4.6.0"],
    keeps_place=True,
    trusts_first_unit=False,
    stops_at_steps_back=True,
    repairs_units=True,
    waits_at_holes=False,
    dispatches_behind_the_end=False,
    reads_negative_as_zero=False,
    makes_any_array=False,
    keeps_filling_index_files=False,
    clears_tail=True,
)
"""How the reference starts: as 4.6.0, without what harms its messages."""


def rules_of(release: str) -> RecoveryRules:
    """Return the rules of *release*, or raise ValueError, which names the others."""
    rules = RULES.get(release)
    if rules is None:
        known = ", ".join(RULES)
        raise ValueError(f"how {release} starts is not known, only {known}")
    return rules
