"""
A real HDFS on loopback: one name node and one data node of Apache Hadoop.

Both run from the shaded jar of Hadoop's test cluster, with the client jars of PySpark.
They keep their files in one directory, and end with this process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen
from xml.sax.saxutils import escape

from conformance.harness.java.jars import resolve
from conformance.harness.process.ports import PortBlock, port_block
from conformance.harness.process.process import Child, ProcessError, start
from java_runtime.find_java import find_java

JARS = (
    "org.apache.hadoop:hadoop-client-minicluster:3.4.2",
    "javax.xml.bind:jaxb-api:2.3.1",
)
"""Name node and data node; Java 11 and later lack the classes of the second."""
SERVER = "org.apache.hadoop.hdfs.server"
READY_S = 120.0


@contextmanager
def hdfs(directory: Path) -> Iterator[str]:
    """Yield the address HOST:PORT of a name node's WebHDFS, with files in *directory*.

    Raises ProcessError and JarsUnavailableError.
    """
    with ExitStack() as stack:
        first, second = (stack.enter_context(port_block()) for _ in range(2))
        web = f"127.0.0.1:{first.name_server}"
        _configure(directory / "conf", web, first, second, directory)
        _format(directory)
        for data_nodes, name in enumerate(("name node", "data node")):
            node = _run(name, place=directory)
            stack.callback(node.kill)
            has_nodes = partial(_has_nodes, web, data_nodes)
            node.wait_until(has_nodes, what="WebHDFS", deadline_s=READY_S)
        yield web


def _format(directory: Path) -> None:
    """Make an empty file system in *directory*."""
    formatting = _run("name node", "-format", "-nonInteractive", place=directory)
    if formatting.wait_end(deadline_s=READY_S) != 0:
        raise ProcessError(f"name node: not formatted:\n{formatting.log_tail()}")


def _run(name: str, *words: str, place: Path) -> Child:
    """Start the node *name*; its class is named likewise."""
    pyspark = find_spec("pyspark")
    assert pyspark is not None
    assert pyspark.origin is not None
    spark_jars = Path(pyspark.origin).parent / "jars"
    found = [str(jar) for one in JARS for jar in resolve([one], transitive=False)]
    class_path = ":".join([str(place / "conf"), *found, f"{spark_jars}/*"])
    package, kind = name.replace(" ", ""), name.title().replace(" ", "")
    node = f"{SERVER}.{package}.{kind}"
    command: list[str | Path] = [
        find_java(),
        "-Xmx256m",
        "-cp",
        class_path,
        node,
        *words,
    ]
    return start(name, command, log=place / f"{package}.log")


def _has_nodes(web: str, count: int) -> bool:
    """Return whether the name node at *web* answers, and has *count* data nodes."""
    query = "Hadoop:service=NameNode,name=FSNamesystemState"
    try:
        with urlopen(f"http://{web}/jmx?qry={query}", timeout=5) as response:
            return f'"NumLiveDataNodes" : {count}' in response.read().decode()
    except (URLError, OSError):
        return False


def _configure(
    folder: Path, web: str, first: PortBlock, second: PortBlock, place: Path
) -> None:
    """Write Hadoop's two configuration files into *folder*."""
    folder.mkdir(parents=True)
    _write(folder / "core-site.xml", {"fs.defaultFS": f"hdfs://127.0.0.1:{first.vip}"})
    site = {
        "dfs.namenode.name.dir": str(place / "name"),
        "dfs.namenode.http-address": web,
        "dfs.datanode.data.dir": str(place / "data"),
        "dfs.datanode.address": f"127.0.0.1:{second.vip}",
        "dfs.datanode.http.address": f"127.0.0.1:{second.name_server}",
        "dfs.datanode.ipc.address": f"127.0.0.1:{second.broker}",
        "dfs.datanode.hostname": "127.0.0.1",
        "dfs.replication": "1",
        "dfs.permissions.enabled": "false",
    }
    _write(folder / "hdfs-site.xml", site)


def _write(file: Path, properties: Mapping[str, str]) -> None:
    rows = [
        f"<property><name>{name}</name><value>{escape(value)}</value></property>"
        for name, value in properties.items()
    ]
    text = f"<configuration>{''.join(rows)}</configuration>"
    file.write_text(text, encoding="utf-8")
