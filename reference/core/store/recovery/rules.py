"""
Recovery rules: the differences between releases at a start.

Each release is stated as the previous one and its differences, with their source. The
algorithms are functions in the modules beside this one, which take plain values and one
`RecoveryRules`. The reference starts by the same functions, with `REFERENCE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from spec.store.commit_log import RECOVERED_FILES_MAX
from spec.store.config.config_files import CONSUMER_OFFSETS_FILE, GROUPS_FILE
from spec.store.message_record import MAGIC_V1, MAGIC_V2


class WrongSizeFilePolicy(Enum):
    """Treatment of a file of the wrong size among files of equal size."""

    IGNORE_REST = "it and the files after it are not looked at"
    REFUSE_START = "the broker does not start"
    DELETE_EMPTY_LAST = "an empty last one is deleted; otherwise it does not start"


class Dispatch(Enum):
    """Records that get consume-queue units at a start, after recovery."""

    NONE = "what is stored from now on"
    FROM_QUEUES = "what lies behind the last record that a queue points at"
    IN_THE_SCAN = "what recovery's scan finds behind that; nothing afterwards"


class RecoveryRules(Struct, frozen=True, kw_only=True):
    """Behaviour of one release at a start. The defaults are those of 4.4.0."""

    release: str = "4.4.0"

    # The releases differ in these.
    wrong_size_file: WrongSizeFilePolicy = WrongSizeFilePolicy.IGNORE_REST
    dispatch: Dispatch = Dispatch.NONE
    magics: frozenset[int] = frozenset({MAGIC_V1})
    supports_ipv6: bool = False
    """The flags of IPv6 hosts in a record are evaluated."""
    end_is_last_begin: bool = True
    """A queue's maxPhysicOffset is the start of its last record, not its end."""
    queues_go_with_log: bool = False
    """Queues are deleted after a stop as well if the commit log has no file."""
    waits_at_holes: bool = False
    """A start waits for the end of dispatch, which does not pass a missing file."""
    corrects_delay_offsets: bool = False
    """Delay offsets outside their queue are set to its bounds."""
    begins_by_queues: bool = False
    """After a stop, recovery begins at the queues' end, not at the third last file."""
    begins_by_offset: bool = False
    """After a crash, recovery begins by the checkpoint's offset, if it has one."""
    files_at_most: int | None = None
    """Number of files at the log's end in which recovery may begin; None for all."""
    checks_first_record: bool = False
    """A file whose first record is invalid in any field is passed over."""
    checks_room: bool = False
    """A record's size is compared with the remaining bytes before other fields."""
    makes_any_array: bool = True
    """A record's size is not checked: one above the memory ends the start."""
    fails_on_empty_last_file: bool = False
    """A queue with units but an empty last file ends the start."""
    reads_copy_of_empty: frozenset[str] = frozenset()
    """Configuration files whose .bak is read if they are an empty string of JSON."""
    reads_blank_as_empty: bool = True
    """White space is read like an empty string, and [] as nothing."""
    has_timer: bool = False
    """Timer messages have their own files, which the start loads."""
    needs_index_files: bool = False
    """An index file that cannot be opened ends the start."""
    indexes_tags: bool = False
    """A message with a tag has an index item for it."""
    reads_lmq_offsets: bool = False
    """lmqConsumerOffset.json, which enableLmq writes, replaces consumerOffset.json."""
    refuses_pull_offsets: bool = False
    """consumerOffset.json with entries in pullOffsetTable counts as unreadable."""

    # All releases are alike in these, and the reference differs.
    trusts_first_unit: bool = True
    """Truncation accepts the first unit of a queue's last file without a check."""
    dispatches_behind_the_end: bool = True
    """Dispatch begins at the queues' offset, even behind the end of the log."""
    reads_negative_as_zero: bool = True
    """A negative size of body or properties is read as 0."""
    parses_delay_levels: bool = True
    """A record of the schedule topic whose DELAY is no number ends the log.

    A running broker does not dispatch the rest of the bytes it has read with it.
    """
    keeps_filling_index_files: bool = True
    """After a crash, an index file that is not full is kept if its time is old enough.

    Only full files are certain to be on disk.
    """
    keeps_place: bool = False
    """A queue that loses all units continues at their position, not at offset 0."""
    stops_at_steps_back: bool = False
    """A unit that points before the end of the previous record ends its queue.

    A power cut leaves a torn unit if it lay on two pages.
    """
    repairs_units: bool = False
    """A record dispatched again replaces its unit: a power cut may have torn it."""
    clears_tail: bool = False
    """Truncated bytes are overwritten with zeros."""

    def null_texts(self, name: str) -> frozenset[str]:
        """Return texts of the configuration file *name* that a start reads as null.

        The .bak is not read then. White space in a text is a single space. Seen with
        the jars of the studied releases.
        """
        blank = ("", "[ ]") if self.reads_blank_as_empty else ()
        empty = () if name in self.reads_copy_of_empty else ('""', "''", *blank)
        array = ("[]",) if self.reads_blank_as_empty else ()
        return frozenset(("null", *empty, *array))


_V4_4 = RecoveryRules()
_V4_6 = replace(
    _V4_4,
    release="4.6.0",
    # 4.6.0 MappedFileQueue#load returns false at a file of another size.
    wrong_size_file=WrongSizeFilePolicy.REFUSE_START,
    # 4.6.0 DefaultMessageStore#start takes reputFromOffset from the queues, no longer
    # from the log's end, and sleeps until dispatchBehindBytes is 0.
    dispatch=Dispatch.FROM_QUEUES,
    waits_at_holes=True,
    # 4.6.0 CommitLog#checkMessageAndReturnSize reads MessageSysFlag.BORNHOST_V6_FLAG.
    supports_ipv6=True,
    # 4.6.0 ConsumeQueue#recover sets maxPhysicOffset to offset + size.
    end_is_last_begin=False,
    # 4.6.0 CommitLog#recoverNormally calls destroyLogics, as recoverAbnormally did.
    queues_go_with_log=True,
    # fastjson 1.2.61 DefaultJSONParser#parseObject throws for blank text if the class
    # has a getter of a map without a setter, and otherwise reads null. 4.6.0
    # SubscriptionGroupManager#getSubscriptionGroupTable. Seen with the jars.
    reads_copy_of_empty=frozenset({GROUPS_FILE}),
)
_V4_9 = replace(
    _V4_6,
    release="4.9.7",
    # 4.9.4 ScheduleMessageService#start calls correctDelayOffset. 4.9.3 reads the file
    # again after it.
    corrects_delay_offsets=True,
    reads_lmq_offsets=True,  # 4.9.3 LmqConsumerOffsetManager#configFilePath
)
_V5_0 = replace(
    _V4_9,
    release="5.0.0",
    # 5.0.0 CommitLog#recoverNormally passes no record to a dispatcher. The start
    # continues at getMaxOffset, without waiting (5.0.0 DefaultMessageStore#start).
    dispatch=Dispatch.NONE,
    waits_at_holes=False,
    # 5.0.0 ConsumeQueue#correctMinOffset reads the last unit of the last file.
    fails_on_empty_last_file=True,
    # 5.0.0 TimerMessageStore#load.
    has_timer=True,
    # 5.0.0 SubscriptionGroupManager#getForbiddenTable has no setter, nor has
    # ConsumerOffsetManager#getGroupTopicMap.
    reads_copy_of_empty=frozenset({GROUPS_FILE, CONSUMER_OFFSETS_FILE}),
)
_V5_1 = replace(
    _V5_0,
    release="5.1.2",
    # 5.1.0 CommitLog#checkMessageAndReturnSize accepts MESSAGE_MAGIC_CODE_V2.
    magics=frozenset({MAGIC_V1, MAGIC_V2}),
    # 5.1.0 DefaultMessageStore#load takes the result of IndexService#load.
    needs_index_files=True,
    # 5.1.0 SubscriptionGroupManager#setForbiddenTable. Seen with the jars of 5.3.3.
    reads_copy_of_empty=frozenset({CONSUMER_OFFSETS_FILE}),
)
_V5_2 = replace(
    _V5_1,
    release="5.3.1",
    # 5.1.3 MappedFileQueue#doLoad deletes an empty last file, and skips directories.
    wrong_size_file=WrongSizeFilePolicy.DELETE_EMPTY_LAST,
)
_V5_3 = replace(
    _V5_2,
    release="5.3.3",
    # 5.3.2 CommitLog#recoverNormally begins at maxPhyOffsetOfConsumeQueue and passes
    # the records behind it to onCommitLogDispatch.
    dispatch=Dispatch.IN_THE_SCAN,
    begins_by_queues=True,
    # 5.3.2 CommitLog#checkMessageAndReturnSize compares totalSize with
    # byteBuffer.remaining before it makes an array.
    checks_room=True,
    makes_any_array=False,
)
_V5_4 = replace(
    _V5_3,
    release="5.4.0",
    # 5.4.0 CommitLog#recoverAbnormally and recoverNormally count the files that they
    # check, and call checkMessageAndReturnSize for the first record of each.
    files_at_most=RECOVERED_FILES_MAX,
    checks_first_record=True,
    # 5.4.0 IndexService#buildIndex. [INDEX-KEY-005]
    indexes_tags=True,
    # Seen with the jars of 5.4.0. [STORE-CONFIG-019]
    refuses_pull_offsets=True,
    # 5.4.0 RemotingSerializable uses fastjson2. Seen with the jars.
    reads_blank_as_empty=False,
)
_V5_5 = replace(
    _V5_4,
    release="5.5.0",
    # 5.5.0 ConsumeQueueStore#isMappedFileMatchedRecover.
    begins_by_offset=True,
    # 5.5.0 ConsumeQueue#correctMinOffset finds out first whether there is a last unit.
    fails_on_empty_last_file=False,
    refuses_pull_offsets=False,
)
RULES: Mapping[str, RecoveryRules] = {
    rules.release: rules
    for rules in (
        *(_V4_4, _V4_6, replace(_V4_6, release="4.9.3", reads_lmq_offsets=True)),
        *(replace(_V4_9, release="4.9.4"), _V4_9),
        *(_V5_0, _V5_1, replace(_V5_2, release="5.1.4"), _V5_2, _V5_3, _V5_4, _V5_5),
    )
}
"""Rules by release, from the source of each tag, and from the classes since 5.4.0.

The nearest of them stands for any other release, so each change has one on both sides.
"""

REFERENCE = replace(
    _V4_6,
    keeps_place=True,
    trusts_first_unit=False,
    stops_at_steps_back=True,
    repairs_units=True,
    waits_at_holes=False,
    dispatches_behind_the_end=False,
    reads_negative_as_zero=False,
    parses_delay_levels=False,
    makes_any_array=False,
    keeps_filling_index_files=False,
    clears_tail=True,
)
"""Rules of the reference: 4.6.0 without its losses of messages."""


def rules_of(release: str) -> RecoveryRules:
    """Return the rules of *release*. Raise ValueError for an unknown release."""
    rules = RULES.get(release)
    if rules is None:
        known = ", ".join(RULES)
        raise ValueError(f"how {release} starts is not known, only {known}")
    return rules
