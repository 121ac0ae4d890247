"""
Start one program of a real Apache RocketMQ release, in the place of this process.

Target files use it for programs that ``jvm:`` does not start, such as the proxy:

    python -m conformance.targets.apache namesrv 5.3.3 --home DIR --port 9876

The jars are the pinned ones from Maven Central. A signal to this process reaches Java,
because Java replaces it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.harness.client.address import LOOPBACK
from conformance.harness.java.apache import HEAP_OPTIONS, PROGRAMS, class_path
from conformance.harness.java.apache_conf import (
    GUEST_SETTINGS,
    JAVA_PROPERTIES,
    SPARING_SETTINGS,
    both_spellings,
    read_properties,
    write_logging,
    write_properties,
)
from conformance.harness.java.jars import resolve
from conformance.harness.java.runtime import FAST_START
from java_runtime.find_java import find_java

PROXY = "org.apache.rocketmq.proxy.ProxyStartup"
PROXY_MODULE = "org.apache.rocketmq:rocketmq-proxy:{release}"
ROOM = {k: v for k, v in GUEST_SETTINGS.items() if k.startswith(JAVA_PROPERTIES)}


def main(words: Sequence[str] | None = None) -> None:
    """Replace this process by the program that *words* describe."""
    options = parser().parse_args(words)
    options.home.mkdir(parents=True, exist_ok=True)
    write_logging(options.home)
    prepare = {"namesrv": name_server, "broker": broker, "proxy": proxy}
    command = java(options.home, prepare[options.program](options))
    os.environ["RMQ_PROXY_HOME"] = str(options.home)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m conformance.targets.apache")
    made.add_argument("program", choices=("namesrv", "broker", "proxy"))
    made.add_argument("release")
    made.add_argument("--home", type=Path, required=True, help="an own directory")
    made.add_argument("--port", type=int, required=True)
    made.add_argument("--namesrv", help="address of the name server")
    made.add_argument("--store", type=Path, help="store directory of the broker")
    made.add_argument("--conf", type=Path, help="settings of the broker")
    made.add_argument("--grpc-port", type=int, help="second port of a proxy")
    made.add_argument(
        "--broker-port", type=int, help="port of the broker inside a local proxy"
    )
    return made


def java(home: Path, program: Iterable[str]) -> list[str]:
    """Return the command that runs *program*, a class path and a class, with Java."""
    (home / "tmp").mkdir(exist_ok=True)
    properties = {
        **ROOM,
        "rocketmq.home.dir": str(home),
        "user.home": str(home),  # logs, and files of the name server
        "java.io.tmpdir": str(home / "tmp"),
        # For TLS, a proxy needs a native library that its pinned jars do not have.
        "tls.server.mode": "disabled",
        # Without it, libraries of the proxy print every detail.
        "logback.configurationFile": str(home / "conf" / "logback_broker.xml"),
    }
    options = (f"-D{name}={value}" for name, value in properties.items())
    return [str(find_java()), *FAST_START, *HEAP_OPTIONS, *options, *program]


def name_server(options: argparse.Namespace) -> list[str]:
    """Return the words that start the name server after those of Java."""
    path = options.home / "namesrv.conf"
    settings = {
        "listenPort": str(options.port),
        "bindAddress": LOOPBACK,
        "kvConfigPath": str(options.home / "kvConfig.json"),
    }
    write_properties(path, settings)
    classes = class_path(options.release)
    return ["-cp", classes, PROGRAMS["namesrv"], "-c", str(path)]


def broker(options: argparse.Namespace) -> list[str]:
    """Return the words that start a broker after those of Java."""
    path = broker_conf(options, port=options.port)
    return ["-cp", class_path(options.release), PROGRAMS["broker"], "-c", str(path)]


def broker_conf(options: argparse.Namespace, *, port: int) -> Path:
    """Write the settings of a broker that listens on *port*; return the file."""
    store = options.store or options.home / "store"
    settings = {
        **SPARING_SETTINGS,
        **{k: v for k, v in GUEST_SETTINGS.items() if k not in ROOM},
        **(read_properties(options.conf) if options.conf else {}),
        "namesrvAddr": options.namesrv,
        "listenPort": str(port),
        "haListenPort": str(port + 1),
        "storePathRootDir": str(store),
        "storePathCommitLog": str(store / "commitlog"),
    }
    path: Path = options.home / "broker.conf"
    write_properties(path, both_spellings(settings))
    return path


def proxy(options: argparse.Namespace) -> list[str]:
    """Return the words that start a proxy after those of Java.

    With a broker's port it is in local mode, with that broker inside.
    """
    path = options.home / "rmq-proxy.json"
    settings = {
        "rocketMQClusterName": GUEST_SETTINGS["brokerClusterName"],
        "remotingListenPort": options.port,
        "remotingAccessAddr": LOOPBACK,
        "grpcServerPort": options.grpc_port,
    }
    path.write_text(json.dumps(settings), encoding="utf-8")
    jars = resolve([PROXY_MODULE.format(release=options.release)])
    words = ["-cp", os.pathsep.join(map(str, jars)), PROXY, "-pc", str(path)]
    words += ["-n", options.namesrv]
    if options.broker_port is None:
        return [*words, "-pm", "cluster"]
    conf = broker_conf(options, port=options.broker_port)
    return [*words, "-pm", "local", "-bc", str(conf)]


if __name__ == "__main__":
    main()
