"""Messages that a consumer sends back after a failure."""

from __future__ import annotations

import pytest

from reference.tests.client.reading import BACK, SEND, Reading, record


def test_what_failed_is_handed_back() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages, failed=delivery.messages[1:])
    reading.go_on()
    back = reading.sent(BACK)
    assert [one.fields["offset"] for one in back] == ["1001"]
    assert back[0].fields["maxReconsumeTimes"] == "16"


@pytest.mark.parametrize("refuses", [{BACK}, {BACK, SEND}])
def test_what_is_not_taken_back_is_sent_anew_or_stays(refuses: set[int]) -> None:
    reading = Reading(from_first=True)
    reading.refuses = refuses
    reading.start()
    reading.world.routes.table["%RETRY%g"] = reading.route
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages, failed=delivery.messages[:1])
    reading.go_on()
    (sent,) = reading.sent(SEND)
    assert (sent.fields["b"], sent.fields["j"]) == ("%RETRY%g", "1")
    reading.world.wait(5000)
    again = reading.delivered()
    assert [one.messages[0].record.reconsume_times for one in again] == [1] * (
        len(refuses) - 1
    )
