"""
Requests of the baseline: nothing in them is optional, unusual or large.

Each compares what nearly every test relies on, and names the clause about it.
"""

from __future__ import annotations

import uuid

from conformance.harness.baseline.frame_checks import (
    check_is_whole,
    expect,
    expect_that,
    expect_wire,
)
from conformance.harness.baseline.requests_without_topic import RequestsWithoutTopic
from conformance.harness.client.client import now_ms, require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Capability, Target
from conformance.harness.targets.topics import request_group, request_topic
from spec.host import Host
from spec.layout import LayoutError
from spec.routing.route_data import decode_route
from spec.store.message_record import Record, decode_record, decode_records
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import NAME_END, decode_properties
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send import SEND_RESPONSE_FIELDS

BODIES = (b"first", b"second")
PROPERTIES = {"KEYS": "baseline", "colour": "blue"}
READ_QUEUES, WRITE_QUEUES = 4, 3
QUEUE_ID, HALF_QUEUE_ID = 1, 2
TIMEOUT_S = 5.0
"""Longer than any release takes to dispatch a message."""
WITHOUT_MESSAGES = (ResponseCode.SUCCESS, ResponseCode.PULL_NOT_FOUND)
"""Codes of a pull's response, as long as the messages are not in the queue."""


class PlainRequests(RequestsWithoutTopic):
    """The requests to one target, on one topic of their own."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._responses: list[Command] = []
        self._born_at_ms = 0
        self._born_host: Host | None = None

    def create_topic(self) -> None:
        """Create the topic."""
        response = request_topic(
            self._target,
            self._topic,
            queue_count=WRITE_QUEUES,
            read_queue_count=READ_QUEUES,
        )
        require_success(response)

    def check_route(self) -> None:
        """Check queue counts, permission and address in the route of the topic."""
        with self._target.connect_to_namesrv() as namesrv:
            namesrv.wait_for_route(self._topic)
            route = decode_route(require_success(namesrv.route(self._topic)).body)
        queues = [
            (one.read_queue_count, one.write_queue_count) for one in route.queue_datas
        ]
        wanted = [(READ_QUEUES, WRITE_QUEUES)]
        expect("ROUTE-DATA-001", "read and write queues", queues, wanted)
        addresses = [a for one in route.broker_datas for a in one.addresses.values()]
        expect_that("ROUTE-DATA-002", "addresses", bool(addresses), addresses, "one")

    def check_new_route(self) -> None:
        """Check that a further topic has a route soon.

        The route of the first one may have come with a periodic registration. Then the
        next registration is a whole period away.
        """
        topic = f"{self._topic}_{uuid.uuid4().hex[:4]}"
        if request_topic(self._target, topic).code != ResponseCode.SUCCESS:
            return  # another step is about the creation
        with self._target.connect_to_namesrv() as namesrv:
            namesrv.wait_for_route(topic, timeout_s=TIMEOUT_S)

    def send(self) -> None:
        """Send two messages to one queue; check the fields of the responses."""
        self._responses = []
        with self._target.connect_to_broker() as broker:
            own = broker.peer.local_address
            self._born_host = Host.of(own.host, own.port)
            for number, body in enumerate(BODIES):
                self._born_at_ms = now_ms()
                response = require_success(
                    broker.send_message(
                        topic=self._topic,
                        body=body,
                        queue_id=QUEUE_ID,
                        properties=PROPERTIES,
                        born_at_ms=self._born_at_ms,
                    )
                )
                self._responses.append(response)
                self._check_response(response, number)

    def _check_response(self, response: Command, number: int) -> None:
        missing = [name for name in SEND_RESPONSE_FIELDS if name not in response.fields]
        expect("SEND-RESPONSE-001", "absent fields", missing, [])
        found = response.fields["queueId"]
        expect("SEND-RESPONSE-001", "queueId", found, str(QUEUE_ID))
        first = self._responses[0].fields["queueOffset"]
        wanted = str(int(first) + number)
        found = response.fields["queueOffset"]
        expect("SEND-RESPONSE-003", "queueOffset", found, wanted)
        try:
            decode_message_id(response.fields["msgId"].partition(",")[0])
        except LayoutError as error:
            expect_wire("WIRE-MESSAGEID-001", False, str(error), "a message id")

    def check_max_offset(self) -> None:
        """Check the max offset of the queue."""
        offset = int(self._responses[-1].fields["queueOffset"]) + 1
        with self._target.connect_to_broker() as broker:
            broker.wait_for_max_offset(
                topic=self._topic,
                offset=offset,
                queue_id=QUEUE_ID,
                timeout_s=TIMEOUT_S,
            )
            found = require_success(
                broker.max_offset(topic=self._topic, queue_id=QUEUE_ID)
            )
        expect("OFFSET-MAX-001", "offset", found.fields["offset"], str(offset))

    def check_units(self) -> None:
        """Check that units have offset and size of the records, if there are files."""
        path = self._target.store_path
        if path is None or Capability.STORE not in self._target.capabilities:
            return
        files = StoreFiles(path)
        for response in self._responses:
            _, offset = decode_message_id(response.fields["msgId"])
            try:
                units = files.queue(self._topic, QUEUE_ID).units()
                record = files.record_bytes(offset)
            except OSError:
                return  # tests of files report that they cannot be read
            number = int(response.fields["queueOffset"])
            if record is not None and 0 <= number < len(units):
                found = units[number].commit_log_offset, units[number].size
                wanted = offset, len(record)
                expect("STORE-QUEUE-003", "offset and size", found, wanted)

    def check_min_offset(self) -> None:
        """Check the min offset of the queue."""
        with self._target.connect_to_broker() as broker:
            found = require_success(
                broker.min_offset(topic=self._topic, queue_id=QUEUE_ID)
            )
        expect("OFFSET-MIN-001", "offset", found.fields["offset"], "0")

    def check_pull(self) -> None:
        """Pull the messages; check header fields and records."""
        with self._target.connect_to_broker() as broker:

            def pull() -> Command:
                found = broker.pull(topic=self._topic, offset=0, queue_id=QUEUE_ID)
                check_is_whole(broker.peer)
                return found

            def is_answered() -> bool:
                found = pull()
                return bool(found.body) or found.code not in WITHOUT_MESSAGES

            what = "a pull finds the messages"
            wait_until(is_answered, what=what, timeout_s=TIMEOUT_S)
            response = require_success(pull())
            end = str(len(BODIES))
            found = response.fields["nextBeginOffset"]
            expect("PULL-FOUND-002", "nextBeginOffset", found, end)
            bounds = (response.fields["minOffset"], response.fields["maxOffset"])
            expect("PULL-FOUND-003", "minOffset, maxOffset", bounds, ("0", end))
            records = list(decode_records(response.body))
        for record, body, number in zip(records, BODIES, range(2), strict=False):
            self._check_record(record, body, number)

    def check_pull_commits_nothing(self) -> None:
        """Check that a pull without the flag of a commit leaves the offset alone."""
        topic, group, committed = self._topic, self._topic, 1
        if request_group(self._target, group).code != ResponseCode.SUCCESS:
            return  # another clause is about the group, and one about the commit
        with self._target.connect_to_broker() as broker:
            response = broker.update_offset(
                group=group, topic=topic, queue_id=QUEUE_ID, offset=committed
            )
            if response.code != ResponseCode.SUCCESS:
                return
            broker.pull(
                group=group,
                topic=topic,
                queue_id=QUEUE_ID,
                offset=0,
                commit_offset=committed + 1,
            )
            response = broker.query_offset(group=group, topic=topic, queue_id=QUEUE_ID)
        if response.code == ResponseCode.SUCCESS:
            found = response.fields["offset"]
            expect("PULL-COMMIT-002", "committed offset", found, str(committed))

    def check_view(self) -> None:
        """View the last message by its id; check its record."""
        with self._target.connect_to_broker() as broker:
            viewed = broker.view_message_by_id(self._responses[-1].fields["msgId"])
            check_is_whole(broker.peer)
            record = decode_record(require_success(viewed).body)
        self._check_record(record, BODIES[-1], len(BODIES) - 1)
        if self._target.registered is None:  # else a forward may have sent it
            expect("SEND-HOST-001", "born_host", record.born_host, self._born_host)

    def check_commit(self) -> None:
        """Send a half message, commit it, and wait until its queue has it."""
        properties = {"TRAN_MSG": "true", "PGROUP": self._topic, "UNIQ_KEY": "HALF"}
        with self._target.connect_to_broker() as broker:
            half = broker.send_message(
                topic=self._topic,
                group=self._topic,
                queue_id=HALF_QUEUE_ID,
                properties=properties,
            )
            if half.code != ResponseCode.SUCCESS:
                return  # with rejectTransactionMessage=true there is nothing to check
            broker.end_transaction(
                group=self._topic,
                commit_log_offset=decode_message_id(half.fields["msgId"])[1],
                queue_offset=int(half.fields["queueOffset"]),
                decision=Decision.COMMIT,
                message_id=half.fields["msgId"],
                transaction_id="HALF",
                oneway=True,
            )
            broker.wait_for_max_offset(
                topic=self._topic,
                offset=1,
                queue_id=HALF_QUEUE_ID,
                timeout_s=TIMEOUT_S,
            )

    def check_pop(self) -> None:
        """Pop the messages, if there are any."""
        require_success(request_group(self._target, self._topic))
        with self._target.connect_to_broker() as broker:
            response = broker.pop(topic=self._topic, group=self._topic)
        if response.code == ResponseCode.POLLING_TIMEOUT:
            return  # without messages: another step is about them
        list(decode_records(require_success(response).body))

    def _check_record(self, record: Record, body: bytes, number: int) -> None:
        store_host, offset = decode_message_id(self._responses[number].fields["msgId"])
        expect("SEND-BODY-001", "body", record.body, body)
        expect("STORE-RECORD-005", "queue_offset", record.queue_offset, number)
        expect("STORE-RECORD-006", "physical_offset", record.physical_offset, offset)
        expect("WIRE-MESSAGEID-001", "store host", record.store_host, store_host)
        if number == len(BODIES) - 1:
            expect("SEND-TIME-001", "born time", record.born_at_ms, self._born_at_ms)
        stored = decode_properties(record.properties)
        found = {name: stored.get(name) for name in PROPERTIES}
        texts = (f"{name}{NAME_END}{value}" for name, value in PROPERTIES.items())
        # The text has all of them, so that it lacks a separator.
        is_joined = found != PROPERTIES and all(
            text in record.properties for text in texts
        )
        clause = "WIRE-PROPERTIES-001" if is_joined else "SEND-PROPS-001"
        expect(clause, "properties", found, PROPERTIES)
