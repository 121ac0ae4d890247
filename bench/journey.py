"""
The way of one message through the reference broker, traced.

    python -m bench.journey [--check]

A name server and a broker run in this process on loopback. A consumer's PULL_MESSAGE
is held at the end of a queue; a producer sends one SEND_MESSAGE_V2. The trace has every
function of the project that runs from then until both responses have been read. A
function that runs in some rounds only, such as a timer's, is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import FrameType

from conformance.harness.process.ports import PortBlock, port_block
from reference.shell import __main__ as shell
from spec.wire.remoting.command import Command, decode_command, encode_command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode
from spec.wire.send.send import LETTERS

ROOT = Path(__file__).resolve().parents[1]
FILES_MAX, FUNCTIONS_MAX = 25, 60
WARM_UP_ROUNDS, ROUNDS = 2, 8
START_TIMEOUT_S = 10.0
TOPIC = "JourneyTopic"
_opaques = count(1)


@dataclass(frozen=True, slots=True)
class Stop:
    """One function on the way."""

    file: str
    line: int
    name: str


@dataclass(slots=True)
class Trace:
    """The functions that one thread has entered while the trace was recording."""

    is_recording: bool = False
    stops: dict[Stop, None] = field(default_factory=dict)

    def profile(self, frame: FrameType, event: str, _argument: object) -> None:
        """Record a call (the signature is that of ``sys.setprofile``)."""
        if event != "call" or not self.is_recording:
            return
        code = frame.f_code
        if code.co_filename.startswith(f"{ROOT}{os.sep}") and "<" not in code.co_name:
            file = str(Path(code.co_filename).relative_to(ROOT))
            self.stops[Stop(file, code.co_firstlineno, code.co_qualname)] = None


def journey() -> list[Stop]:
    """Return the functions that every round enters, in order of first call."""
    trace, rounds = Trace(), list[list[Stop]]()
    with port_block() as ports, tempfile.TemporaryDirectory() as directory:
        words = ["--namesrv-port", str(ports.name_server)]
        words += ["--broker-port", str(ports.broker), "--store", directory]
        peers = threading.Thread(target=_all_rounds, args=(ports, trace, rounds))
        peers.start()
        sys.setprofile(trace.profile)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                code = shell.main(words)
        finally:
            sys.setprofile(None)
        peers.join()
    if code != 0 or len(rounds) < WARM_UP_ROUNDS + ROUNDS:
        raise RuntimeError("the broker did not answer all rounds")
    kept = [set(one) for one in rounds[WARM_UP_ROUNDS:]]
    return [stop for stop in rounds[-1] if all(stop in one for one in kept)]


def _all_rounds(ports: PortBlock, trace: Trace, rounds: list[list[Stop]]) -> None:
    """Send and pull in turns, keep the stops of each turn, then end the broker."""
    try:
        with _connected(ports.broker) as producer, _connected(ports.broker) as consumer:
            producer.sendall(_request(RequestCode.SEND_MESSAGE_V2, _SEND, b"first"))
            _response(producer)  # its topic is created by it
            for offset in range(1, 1 + WARM_UP_ROUNDS + ROUNDS):
                consumer.sendall(_request(RequestCode.PULL_MESSAGE, _pull(offset)))
                time.sleep(0.05)  # not an oracle: lets the pull be held first
                trace.stops, trace.is_recording = {}, True
                producer.sendall(_request(RequestCode.SEND_MESSAGE_V2, _SEND, b"body"))
                responses = _response(producer), _response(consumer)
                trace.is_recording = False
                if [response.code for response in responses] == [
                    ResponseCode.SUCCESS
                ] * 2:
                    rounds.append(list(trace.stops))
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def _connected(port: int) -> socket.socket:
    """Return a connection to a broker that is being started."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=5)
        except ConnectionRefusedError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.02)


_SEND = {
    LETTERS[name]: value
    for name, value in {
        "producerGroup": "journey_producer",
        "topic": TOPIC,
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "1",
        "queueId": "0",
        "sysFlag": "0",
        "bornTimestamp": "1700000000000",
        "flag": "0",
        "properties": "TAGS\x01A\x02UNIQ_KEY\x0120010DB800000000000000000000000000\x02",
        "reconsumeTimes": "0",
        "unitMode": "false",
        "batch": "false",
    }.items()
}


def _pull(offset: int) -> dict[str, str]:
    """Return the header of a pull that may be held and brings its subscription."""
    return {
        "consumerGroup": "journey_consumer",
        "topic": TOPIC,
        "queueId": "0",
        "queueOffset": str(offset),
        "maxMsgNums": "32",
        "sysFlag": "6",
        "commitOffset": "0",
        "suspendTimeoutMillis": "15000",
        "subscription": "A",
        "subVersion": "0",
        "expressionType": "TAG",
    }


def _request(code: RequestCode, fields: Mapping[str, str], body: bytes = b"") -> bytes:
    command = Command(code=code, opaque=next(_opaques), fields=dict(fields), body=body)
    return encode_command(command)


def _response(connection: socket.socket) -> Command:
    """Return the next command that arrives on *connection*."""
    size = int.from_bytes(_exactly(connection, 4), "big")
    return decode_command(size.to_bytes(4, "big") + _exactly(connection, size))


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data


def main(arguments: list[str] | None = None) -> int:
    """Print the way; return 1 with ``--check`` where it is longer than it may be."""
    parser = argparse.ArgumentParser(prog="bench.journey", description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 over the limits")
    given = parser.parse_args(arguments)
    stops = journey()
    files = {stop.file for stop in stops}
    for number, stop in enumerate(stops, start=1):
        sys.stdout.write(f"{number:3} {stop.file}:{stop.line} {stop.name}\n")
    sys.stdout.write(
        f"{len(files)} files (at most {FILES_MAX}), "
        f"{len(stops)} functions (at most {FUNCTIONS_MAX})\n"
    )
    is_short = len(files) <= FILES_MAX and len(stops) <= FUNCTIONS_MAX
    return int(given.check and not is_short)


if __name__ == "__main__":
    sys.exit(main())
