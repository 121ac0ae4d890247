"""
With SYNC_FLUSH, acknowledged messages are on disk, in every order of sends and flushes.

Flushes may be refused. Only the test moves the clock.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from reference.core.broker.send.put_result import is_wait_store_msg_ok
from reference.tests.broker.broker_driver import send_fields
from reference.tests.broker.disk.slow_disk import SYNC, SlowDisk
from spec.wire.remoting.command import Command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.batch_body import BatchMessage, encode_batch

PATIENCE_MS = 5_000
BODIES = st.integers(0, 700).map(bytes)


def test_waits_of_many_puts_share_one_timer() -> None:
    driver = SlowDisk(SYNC)
    driver.connect(1)
    timers = driver.broker.timers
    assert driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T")) == []
    count = len(timers)
    for _ in range(50):
        driver.flush()
        assert len(driver.inbox(1)) == 1
        assert driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T")) == []
    assert len(timers) == count


def test_one_flush_answers_all_that_came_before_it() -> None:
    driver = SlowDisk(SYNC)
    driver.connect(1)
    assert driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"first") == []
    for number in range(5):
        body = b"%d" % number
        assert driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), body) == []
    assert len(driver.waiting) == 1
    driver.flush()
    assert [response.code for response in driver.inbox(1)] == [ResponseCode.SUCCESS]
    assert len(driver.waiting) == 1
    driver.flush()
    assert [response.code for response in driver.inbox(1)] == [ResponseCode.SUCCESS] * 5
    assert driver.waiting == []


def test_who_wants_no_answer_does_not_wait_but_is_flushed() -> None:
    driver = SlowDisk(SYNC)
    driver.connect(1)
    texts = {name: str(value) for name, value in send_fields("T").items()}
    code = int(RequestCode.SEND_MESSAGE)
    command = Command(code=code, opaque=9, flag=2, fields=texts, body=b"oneway")
    driver.hand(1, encode_command(command))
    store = driver.broker.state.store
    assert store.max_offset("T", 0) == 1
    assert not driver.broker.flusher.pending
    assert len(driver.waiting) == 1
    driver.flush()
    assert store.log.files.flushed == store.log.files.end > 0
    assert driver.inbox(1) == []


def test_nobody_waits_with_async_flush() -> None:
    driver = SlowDisk({"flushDiskType": "ASYNC_FLUSH"})
    driver.connect(1)
    (response,) = driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"body")
    assert response.code == ResponseCode.SUCCESS
    assert driver.waiting == []


@pytest.mark.parametrize("error", ["no space left on the disk", "Input/output error"])
def test_a_disk_that_refuses_loses_nothing(error: str) -> None:
    driver = SlowDisk(SYNC)
    driver.connect(1)
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"body")
    for _ in range(PATIENCE_MS // 500):
        driver.flush(refused=error)
        assert driver.inbox(1) == []
        driver.wait(500)
    (response,) = driver.inbox(1)
    assert response.code == ResponseCode.FLUSH_DISK_TIMEOUT
    assert driver.complaints == [error]
    end = driver.end_of(response.fields["msgId"])
    assert driver.broker.state.store.log.files.flushed < end
    driver.flush_all()
    assert driver.on_disk >= end
    assert driver.inbox(1) == []
    driver.invoke(1, RequestCode.SEND_MESSAGE, send_fields("T"), b"next")
    driver.flush_all()
    (response,) = driver.inbox(1)
    assert response.code == ResponseCode.SUCCESS


class GroupCommit(RuleBasedStateMachine):
    """A broker with SYNC_FLUSH, one producer, and a disk with a will of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = SlowDisk(SYNC)
        self.driver.connect(1)
        self.sent_at_ms: dict[int, int] = {}
        self.waits: dict[int, bool] = {}

    @rule(body=BODIES, waits=st.booleans())
    def send(self, body: bytes, waits: bool) -> None:
        """Send a message that waits for the disk, or not."""
        properties = "" if waits else "WAIT\x01false\x02"
        fields = send_fields("T", properties=properties)
        self._send_request(RequestCode.SEND_MESSAGE, fields, body, waits=waits)

    @rule(body=BODIES)
    def send_half(self, body: bytes) -> None:
        """Send half of a transaction."""
        fields = send_fields("T", properties="TRAN_MSG\x01true\x02PGROUP\x01g\x02")
        self._send_request(RequestCode.SEND_MESSAGE, fields, body, waits=True)

    @rule(count=st.integers(1, 3))
    def send_batch(self, count: int) -> None:
        """Send a batch."""
        body = encode_batch([BatchMessage(body=b"b" * 50) for _ in range(count)])
        fields = send_fields("T", batch="true")
        self._send_request(RequestCode.SEND_MESSAGE, fields, body, waits=True)

    @precondition(lambda self: self.driver.waiting)
    @rule(refused=st.sampled_from(["", "", "no space left on the disk"]))
    def finish_flush(self, refused: str) -> None:
        """Complete or fail the oldest requested flush."""
        self.driver.flush(refused)

    @rule(duration_ms=st.sampled_from([1, 499, 500, 4_000, 5_000]))
    def wait(self, duration_ms: int) -> None:
        """Let time pass."""
        self.driver.wait(duration_ms)

    @invariant()
    def what_is_acknowledged_is_on_disk(self) -> None:
        """Check all responses that have arrived."""
        for response in self.driver.inbox(1):
            waited_ms = self.driver.now_ms - self.sent_at_ms.pop(response.opaque)
            if response.code == ResponseCode.FLUSH_DISK_TIMEOUT:
                assert waited_ms >= PATIENCE_MS
                assert self.waits[response.opaque]
            else:
                assert response.code == ResponseCode.SUCCESS
                assert not self.waits[response.opaque] or self._is_on_disk(response)

        # No producer waits longer than that.
        for sent_at_ms in self.sent_at_ms.values():
            assert self.driver.now_ms - sent_at_ms < PATIENCE_MS

    @invariant()
    def the_checkpoint_is_not_ahead(self) -> None:
        """Check that the checkpoint stays at 0 before the first flush."""
        store = self.driver.broker.state.store
        if self.driver.on_disk == 0:
            assert store.checkpoint.physic_ms == 0

    def teardown(self) -> None:
        """See that everybody is answered in the end."""
        self.driver.wait(500)  # after a flush that failed, for the next one
        self.driver.flush_all()
        self.what_is_acknowledged_is_on_disk()
        assert self.sent_at_ms == {}

    def _send_request(
        self, code: int, fields: dict[str, object], body: bytes, *, waits: bool
    ) -> None:
        opaque = self.driver.send(1, code, fields, body)
        self.sent_at_ms[opaque] = self.driver.now_ms
        self.waits[opaque] = waits

    def _is_on_disk(self, response: Command) -> bool:
        last = response.fields["msgId"].split(",")[-1]
        return self.driver.end_of(last) <= self.driver.on_disk


GroupCommit.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)
TestGroupCommit = GroupCommit.TestCase


@pytest.mark.parametrize(
    ("properties", "waits"),
    [
        ("", True),
        ("WAIT\x01true\x02", True),
        ("WAIT\x01TRUE\x02", True),
        ("WAIT\x01true", True),
        ("WAIT\x01false\x02", False),
        ("a\x01b\x02WAIT\x01FALSE", False),
        ("WAIT\x01no\x02", False),
        ("AWAIT\x01false\x02", True),
        ("AWAIT\x01true\x02WAIT\x01false\x02", False),
    ],
)
def test_the_property_wait_is_read_as_java_reads_it(
    properties: str, waits: bool
) -> None:
    assert is_wait_store_msg_ok(properties) == waits
