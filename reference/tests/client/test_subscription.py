"""What a subscription wants."""

from __future__ import annotations

from reference.core.client.subscription import subscription_of, wants
from reference.tests.client.reading import Reading, record


def test_an_expression_is_taken_apart() -> None:
    found = subscription_of("T", " A||B ||  || A", version=1)
    assert found.tags == ("A", "B")
    assert found.codes == (65, 66)
    assert not wants(found, {})
    assert wants(subscription_of("T", "*", version=1), {})


def test_tags_of_the_same_hash_are_told_apart() -> None:
    reading = Reading(from_first=True, expression="Aa || C")
    reading.start()
    reading.find(reading.pull(), record(0, tag="Aa"), record(1, tag="BB"), record(2))
    (delivery,) = reading.delivered()
    assert [one.properties for one in delivery.messages] == [{"TAGS": "Aa"}]
