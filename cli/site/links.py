"""Links from the site to tests, to files of the project, and to RocketMQ's sources."""

from __future__ import annotations

import re
from dataclasses import dataclass

APACHE = "https://github.com/apache/rocketmq"
MODULES = frozenset(
    [
        "acl",
        "broker",
        "client",
        "common",
        "filter",
        "logging",
        "namesrv",
        "remoting",
        "srvutil",
        "store",
        "tools",
    ]
)
"""Modules of RocketMQ's build that have the name of their package."""
_SOURCE = re.compile(
    r"(?P<release>\d+\.\d+\.\d+) (?P<name>org\.apache\.rocketmq"
    r"\.(?P<module>[a-z]+)[.\w]*\.(?P<outer>[A-Z]\w*))"
)
_OUTSIDE = re.compile(r"\]\((?:\.\./)+([^)#]+)(#[^)]*)?\)")
"""A link of a page in ``docs`` to a file elsewhere in the repository."""


def source_url(source: str) -> str | None:
    """Return the address of the class in a clause's source; None for other sources."""
    found = _SOURCE.match(source)
    if found is None or found["module"] not in MODULES:
        return None
    path = f"{found['module']}/src/main/java/{found['name'].replace('.', '/')}.java"
    return f"{APACHE}/blob/rocketmq-all-{found['release']}/{path}"


def issue_url(issue: str) -> str:
    """Return the address of a public issue, such as ``apache/rocketmq#9121``."""
    repository, _, number = issue.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


@dataclass(frozen=True, slots=True)
class Repository:
    """The project's own files; without an address they have no links."""

    url: str = ""
    """Address of the top folder at one revision, without a slash at its end."""

    def link(self, path: str, text: str = "") -> str:
        """Return *text* as a link to the file *path*."""
        shown = f"`{text or path}`"
        return f"[{shown}]({self.url}/{path})" if self.url else shown

    def test(self, name: str) -> str:
        """Return a link to the file of a test, as ``conformance/a.py::test_b``."""
        return self.link(name.partition("::")[0], name.removeprefix("conformance/"))

    def page(self, text: str) -> str:
        """Return a page of ``docs`` with links to files that the site lacks."""
        if self.url:
            return _OUTSIDE.sub(rf"]({self.url}/\1\2)", text)
        return re.sub(rf"\[([^]]*){_OUTSIDE.pattern}", r"\1", text)
