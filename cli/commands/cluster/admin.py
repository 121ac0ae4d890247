"""``rmqc admin``: the most common commands of mqadmin, under the same names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from cli.options.access import with_access
from cli.options.common import CommandGroup, namesrv_option
from cli.options.exit_codes import FINDINGS, fail
from cli.options.output import echo_line
from cli.options.progress import announced_wait
from cli.pages.message_detail import lines_of, track_lines
from conformance.harness.client.access import Access
from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer import RESPONSE_TIMEOUT_S
from conformance.harness.client.peer_errors import (
    NoResponseError,
    PeerError,
    PeerMisbehavedError,
)
from conformance.harness.client.requests.invoker import RefusedError
from spec.layout import LayoutError
from spec.routing.cluster_info import decode_cluster_info, decode_topic_list
from spec.routing.route_data import MASTER_ID, BrokerData, TopicRoute, decode_route
from spec.store.message_record import (
    BadChecksumError,
    Record,
    decode_record,
    decode_records,
)
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.remoting.response_code import ResponseCode

KEY_COUNT_MAX = 64
TOOLS_GROUP = "TOOLS_CONSUMER"


@click.group(cls=CommandGroup)
@with_access
@click.pass_context
def admin(context: click.Context, access: Access) -> None:
    """Query name servers and brokers, as mqadmin does.

    Options about access come before the name of the query.
    Exit codes: 0 success, 1 the message does not exist, 2 usage, 3 no response or an
    error response. The exit code of mqadmin is 0 in all these cases.
    """
    context.obj = access


_NAMESRV = namesrv_option(
    "The name server; the first of a list separated by semicolons."
)
_TOPIC = click.option("-t", "--topic", required=True, help="The topic's name.")


@admin.command("topicList")
@_NAMESRV
def topic_list(namesrv: str) -> None:
    """List the topics that are registered at the name server."""
    with _client(namesrv) as client:
        listed = decode_topic_list(require_success(client.topic_list()).body)
    for topic in sorted(listed.topics):
        echo_line(topic)


@admin.command("topicRoute")
@_NAMESRV
@_TOPIC
def topic_route(namesrv: str, topic: str) -> None:
    """Show the brokers of a topic, their queue counts and their addresses."""
    route = _route(namesrv, topic)
    for queue in route.queue_datas:
        echo_line(
            f"{queue.broker_name:<24} read {queue.read_queue_count:<4}"
            f" write {queue.write_queue_count:<4} perm {queue.permission}"
        )
    for broker in route.broker_datas:
        for number, address in sorted(broker.addresses.items()):
            echo_line(f"{broker.broker_name:<24} id {number:<6} {address}")


@admin.command("clusterList")
@_NAMESRV
def cluster_list(namesrv: str) -> None:
    """List clusters, their brokers, and the addresses of each."""
    with _client(namesrv) as client:
        info = decode_cluster_info(require_success(client.cluster_info()).body)
    echo_line(f"{'#Cluster Name':<22}{'#Broker Name':<26}{'#BID':<6}#Addr")
    for cluster, names in sorted(info.clusters.items()):
        for name in sorted(names & info.brokers.keys()):
            for number, address in sorted(info.brokers[name].addresses.items()):
                echo_line(f"{cluster:<22}{name:<26}{number:<6}{address}")


@admin.command("queryMsgById")
@_NAMESRV
@click.option("-i", "--msgId", "message_id", required=True, help="Its offset id.")
def query_by_id(namesrv: str, message_id: str) -> None:  # noqa: ARG001 - the id has the address
    """Show the message of an offset id, from the broker that the id names."""
    try:
        host, offset = decode_message_id(message_id)
    except LayoutError as error:
        raise click.UsageError(f"{message_id} is not an offset id: {error}") from None
    with _client(str(host)) as broker:
        response = broker.view_message(commit_log_offset=offset)
        if response.code == ResponseCode.SYSTEM_ERROR:  # [QUERY-ID-002]
            _no_message(response.remark or "")
        if response.code != ResponseCode.SUCCESS:
            fail(f"refused with code {response.code}: {response.remark}")
        _show(_record_at(offset, response.body), broker)


@admin.command("queryMsgByKey")
@_NAMESRV
@_TOPIC
@click.option("-k", "--msgKey", "key", required=True, help="One of its keys.")
def query_by_key(namesrv: str, topic: str, key: str) -> None:
    """List the messages that have a key."""
    echo_line(f"{'#Message ID':<50} {'#QID':>4} {'#Offset':>40}")
    for address in _masters(_route(namesrv, topic)):
        with _client(address) as broker:
            for record in _found(broker, topic, key, count_max=KEY_COUNT_MAX):
                properties = decode_properties(record.properties)
                if key in properties.get("KEYS", "").split(" "):
                    known_as = properties.get("UNIQ_KEY", "")
                    echo_line(
                        f"{known_as:<50} {record.queue_id:>4} {record.queue_offset:>40}"
                    )


@admin.command("queryMsgByUniqueKey")
@_NAMESRV
@_TOPIC
@click.option("-i", "--msgId", "unique_key", required=True, help="Its unique key.")
def query_by_unique_key(namesrv: str, topic: str, unique_key: str) -> None:
    """Show the message that has a unique key."""
    for address in _masters(_route(namesrv, topic)):
        with _client(address) as broker:
            for record in _found(broker, topic, unique_key, unique=True):
                properties = decode_properties(record.properties)
                if properties.get("UNIQ_KEY") == unique_key:
                    _show(record, broker, with_id=False)
                    return
    _no_message()


@admin.command("queryMsgByOffset")
@_NAMESRV
@_TOPIC
@click.option("-b", "--brokerName", "broker_name", required=True, help="Its broker.")
@click.option("-i", "--queueId", "queue_id", type=int, required=True, help="Its queue.")
@click.option("-o", "--offset", type=int, required=True, help="Its queue offset.")
def query_by_offset(
    namesrv: str, topic: str, broker_name: str, queue_id: int, offset: int
) -> None:
    """Show the message at an offset of a queue."""
    data = _route(namesrv, topic).broker(broker_name)
    if data is None or not data.addresses:
        fail(f"{topic} has no broker {broker_name}")
    with _client(_address_of(data)) as broker:
        response = broker.pull(
            topic=topic,
            queue_id=queue_id,
            offset=offset,
            max_count=1,
            group=TOOLS_GROUP,
        )
        is_found = response.code == ResponseCode.SUCCESS
        record = next(decode_records(response.body), None) if is_found else None
        if record is None:
            _no_message()
        added = {
            "MIN_OFFSET": response.fields.get("minOffset", "null"),
            "MAX_OFFSET": response.fields.get("maxOffset", "null"),
        }
        _show(record, broker, added=added)


_BROKER = click.option(
    "-b",
    "--brokerAddr",
    "address",
    required=True,
    metavar="HOST:PORT",
    help="The broker's address.",
)


@admin.command("getBrokerConfig")
@_BROKER
def get_broker_config(address: str) -> None:
    """Show the settings of a broker."""
    with _client(address) as broker:
        settings = broker.broker_settings()
    echo_line(f"============{address}============")
    for name, value in sorted(settings.items()):
        echo_line(f"{name:<50}=  {value}")


@admin.command("updateBrokerConfig")
@_BROKER
@click.option("-k", "--key", "name", required=True, help="Name of a setting.")
@click.option("-v", "--value", required=True, help="Its new value.")
def update_broker_config(address: str, name: str, value: str) -> None:
    """Change a setting of a running broker, such as the faults of `rmqc serve`."""
    with _client(address) as broker:
        require_success(broker.update_broker_config({name.strip(): value.strip()}))
    echo_line(f"update broker config success, {address}")


def _record_at(offset: int, data: bytes) -> Record:
    """Return the record that begins at the commit-log *offset*.

    A broker returns the bytes of any offset that it can take for the first of a record.
    """
    try:
        record = decode_record(data)
    except BadChecksumError:
        raise
    except LayoutError:
        record = None
    if record is None or record.physical_offset != offset:
        _no_message(f"no record begins at offset {offset:,}")
    return record


def _show(
    record: Record,
    broker: Client,
    *,
    added: dict[str, str] | None = None,
    with_id: bool = True,
) -> None:
    for line in lines_of(record, added or {}, with_id=with_id):
        echo_line(line)
    click.echo()
    for line in track_lines(record, broker):
        echo_line(line)


def _found(
    broker: Client, topic: str, key: str, *, count_max: int = 32, unique: bool = False
) -> Iterator[Record]:
    response = broker.query_message(
        topic=topic, key=key, max_count=count_max, unique=unique
    )
    if response.code == ResponseCode.SUCCESS:
        yield from decode_records(response.body)


def _route(namesrv: str, topic: str) -> TopicRoute:
    with _client(namesrv) as client:
        return decode_route(require_success(client.route(topic)).body)


def _masters(route: TopicRoute) -> list[str]:
    """Return the addresses of a route's masters, or of a slave where none is up."""
    return [_address_of(data) for data in route.broker_datas if data.addresses]


def _address_of(data: BrokerData) -> str:
    """Return the address of a master, or of a slave where none is up."""
    return data.addresses.get(MASTER_ID, next(iter(data.addresses.values())))


@contextmanager
def _client(address: str) -> Iterator[Client]:
    """Connect to the first address. An error ends the program with one line."""
    access = click.get_current_context().find_object(Access)
    assert access is not None, "the group states it"
    try:
        first = Address.parse(address.split(";")[0])
        with (
            announced_wait(f"waiting for {first}"),
            Client.connect(first, access=access) as client,
        ):
            yield client
    except LayoutError as error:
        fail(f"unreadable response of {address}: {error}")
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except (PeerError, RefusedError) as error:
        fail(error)
    except NoResponseError:
        fail(f"{address} sends no response within {RESPONSE_TIMEOUT_S:g} s")
    except PeerMisbehavedError as error:
        fail(f"{address}: {error.reason}")


def _no_message(reason: str = "") -> NoReturn:
    colon = ": " if reason else ""
    echo_line(f"the message does not exist{colon}{reason}", err=True)
    sys.exit(FINDINGS)
