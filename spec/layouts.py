"""Every layout of the specification, by the name of its golden print."""

from __future__ import annotations

from construct import Struct

from spec.store.batch_queue import batch_unit_layout
from spec.store.blank import blank_layout
from spec.store.checkpoint import checkpoint_layout
from spec.store.consume_queue import unit_layout
from spec.store.index_file import header_layout as index_header_layout
from spec.store.index_file import item_layout, slot_layout
from spec.store.message_record import record_layout
from spec.store.queue_extension import extension_unit_layout
from spec.store.timer.timer_log import timer_blank_layout, timer_unit_layout
from spec.store.timer.timer_wheel import timer_checkpoint_layout, timer_slot_layout
from spec.wire.ha.replication import piece_layout, slave_offset_layout
from spec.wire.message.message_id import message_id_layout, message_id_v6_layout
from spec.wire.message.unique_key import unique_key_layout, unique_key_v6_layout
from spec.wire.remoting.frame import frame_layout
from spec.wire.remoting.header_rocketmq import entry_layout
from spec.wire.remoting.header_rocketmq import header_layout as command_header_layout
from spec.wire.send.batch_body import batch_message_layout

LAYOUTS: dict[str, Struct] = {
    "batch_consume_queue_unit": batch_unit_layout,
    "batch_message": batch_message_layout,
    "blank": blank_layout,
    "checkpoint": checkpoint_layout,
    "consume_queue_extension_unit": extension_unit_layout,
    "consume_queue_unit": unit_layout,
    "frame": frame_layout,
    "header_rocketmq": command_header_layout,
    "header_rocketmq_entry": entry_layout,
    "index_header": index_header_layout,
    "index_item": item_layout,
    "index_slot": slot_layout,
    "message_id": message_id_layout,
    "message_id_v6": message_id_v6_layout,
    "message_record": record_layout,
    "replication_piece": piece_layout,
    "replication_slave_offset": slave_offset_layout,
    "timer_blank": timer_blank_layout,
    "timer_checkpoint": timer_checkpoint_layout,
    "timer_slot": timer_slot_layout,
    "timer_unit": timer_unit_layout,
    "unique_key": unique_key_layout,
    "unique_key_v6": unique_key_v6_layout,
}
