"""
Every decoder with all its bytes, with some, and with more.

test_fuzz covers bad bytes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spec.decoders import OF_OUR_OWN, decoding_functions
from spec.tests.decoders.arrival import check
from spec.tests.decoders.decoder_samples import DECODERS


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_takes_the_whole_and_refuses_every_part(name: str) -> None:
    check(DECODERS[name])


TEXTS = {
    "routing.broker_registration.decode_registration",
    "routing.cluster_info.decode_cluster_info",
    "routing.cluster_info.decode_topic_list",
    "routing.kv_config.decode_key_value_table",
    "routing.route_data.decode_route",
    "routing.topic_config.decode_data_version",
    "routing.topic_config.decode_topic_line",
    "routing.topic_config.decode_topic_table",
    "store.config.config_files.decode_consumer_offsets",
    "store.config.config_files.decode_delay_offsets",
    "store.config.config_files.decode_groups",
    "store.epoch_file.decode_epochs",
    "wire.message.delay_levels.decode_delay_levels",
    "wire.remoting.header_json.decode_json_header",
    "wire.bodies.json_body.decode_body",
    "wire.pop.pop_receipt.decode_popped_queues",
    "wire.pop.pop_receipt.decode_receipt",
    "wire.message.properties.decode_properties",
    "wire.message.timed.decode_recall_handle",
    "wire.message.system_topics.decode_op_body",
    "wire.message.trace.decode_trace",
}
"""Decoders of text: a part of it may be whole, or what refuses a part is JSON's own."""
ROWS = {
    "store.batch_queue.decode_batch_units",
    "store.consume_queue.decode_units",
    "store.message_record.decode_records",
    "store.queue_extension.decode_extension_units",
    "store.timer.timer_log.decode_timer_units",
    "wire.send.batch_body.decode_batch",
    "wire.remoting.command.decode_command",
    "wire.remoting.header_rocketmq.decode_entries",
    "wire.remoting.header_rocketmq.decode_rocketmq_header",
    "wire.message.message_id.decode_message_id",
    "wire.message.unique_key.decode_unique_key",
}
"""Decoders of what is tried above in one piece: rows of it, or its parts and texts."""


def test_no_decoder_is_left_out() -> None:
    tried = {name_of(decoder.decode) for decoder in DECODERS.values()}
    named = {name.removeprefix("spec.") for name in decoding_functions()}
    ours = {name.removeprefix("spec.") for name in OF_OUR_OWN}
    assert sorted(named - tried - TEXTS - ROWS - ours) == [], "give each a sample"
    assert (TEXTS | ROWS | ours) <= named, "one of these is no more"


def name_of(decode: Callable[[bytes], object]) -> str:
    """Return the name that the specification has for *decode*."""
    return f"{decode.__module__}.{decode.__name__}".removeprefix("spec.")
