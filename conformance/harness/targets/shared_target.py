"""
Shared target: started once for a run and used by all its tests.

With several workers, the controller process starts the target and passes its
description to each worker. A shared target is never stopped or killed by a test. A test
that has to do so starts a target of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

from conformance.harness.client.address import Address
from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.targets.health import Health, healthy_roles
from conformance.harness.targets.probing.probe import examine
from conformance.harness.targets.target import (
    Capability,
    Target,
    TargetError,
    parse_target,
)

LATE_ROUTES = "late_routes"
"""Key of a description: whether new topics have no route in time."""


class SharedTarget(Target):
    """Started target that another process stops."""

    def __init__(self, description: Mapping[str, str]) -> None:
        super().__init__(description["text"])
        self.update(description)

    def update(self, description: Mapping[str, str]) -> None:
        """Become the target of *description*, which replaces a broken one."""
        self.release = description["release"]
        self.conf = dict(parse_qsl(description.get("conf", "")))
        self.stated_release = description.get("stated_release", "")
        self.admin = _address(description.get("admin", ""))
        self.registered = _address(description.get("registered", ""))
        self.namesrv = _address(description["namesrv"])
        self.broker = _address(description["broker"])
        self.broker_name, self.cluster = (
            description["broker_name"],
            description["cluster"],
        )
        self.store_path = (
            Path(description["store_path"]) if description["store_path"] else None
        )
        names = filter(None, description["capabilities"].split(","))
        self.capabilities = frozenset(Capability(name) for name in names)
        self.refuses = refuses_of(description)
        self.is_foreign = bool(description.get("is_foreign"))
        self.has_late_routes = has_late_routes(description)
        self.use_access(dict(parse_qsl(description.get("access", ""))))


def describe_target(target: Target, violations: Iterable[str] = ()) -> dict[str, str]:
    """Return the description of a started *target* for workers, as text values."""
    return {
        "text": target.text,
        "conf": urlencode(target.conf),
        "release": target.release,
        "stated_release": target.stated_release,
        "namesrv": str(target.namesrv or ""),
        "broker": str(target.broker or ""),
        "admin": str(target.admin or ""),
        "registered": str(target.registered or ""),
        "broker_name": target.broker_name,
        "cluster": target.cluster,
        "store_path": str(target.store_path or ""),
        "capabilities": ",".join(sorted(target.capabilities)),
        "release_source": target.release_source,
        "refuses": ",".join(str(code) for code in sorted(target.refuses)),
        "violations": "\n".join(violations),
        "access": urlencode(target.access_settings),
        "is_foreign": "yes" if target.is_foreign else "",
    }


def violations_of(description: Mapping[str, str]) -> list[str]:
    """Return the violations of the protocol that the probe has found."""
    return description.get("violations", "").splitlines()


def has_late_routes(description: Mapping[str, str]) -> bool:
    """Return whether the baseline waited for the route of a new topic, in vain."""
    return bool(description.get(LATE_ROUTES))


def refuses_of(description: Mapping[str, str]) -> frozenset[int]:
    """Return the codes of the requests that the target refuses."""
    return frozenset(map(int, filter(None, description.get("refuses", "").split(","))))


def _address(text: str) -> Address | None:
    return Address.parse(text) if text else None


Check: TypeAlias = Callable[[Target], Mapping[str, str]]
"""Returns additions to the description of a target that has just started."""


class TargetOwner:
    """Owner of the run's target: started at first use, stopped at the end.

    A failed start is not repeated: every test that needs the target gets the same
    error. A target that breaks later is replaced where its kind allows it.
    """

    def __init__(
        self,
        text: str,
        *,
        profile: str | None,
        description: Mapping[str, str] | None = None,
        check: Check | None = None,
    ) -> None:
        self._text = text
        self._profile = profile
        self._check = check
        self._description = dict(description or {})
        self._started: Target | None = None
        self._shared: SharedTarget | None = None
        self._health: Health | None = None

    @property
    def description(self) -> dict[str, str]:
        """Description of the target, which is started for it."""
        if not self._description:
            self._description = self._start()
        return self._description

    @property
    def known_description(self) -> dict[str, str]:
        """Description of the target; empty where it has not started yet."""
        return self._description

    @property
    def is_shared(self) -> bool:
        """Whether other processes test the same target as this one."""
        return bool(self._description) and self._started is None

    def target(self) -> SharedTarget:
        """Return the run's target."""
        if "error" in self.description:
            raise TargetError(self.description["error"])
        if self._shared is None:
            self._shared = SharedTarget(self.description)
        return self._shared

    def target_of_workers(self) -> SharedTarget | None:
        """Return the target in a worker; None where it may not have started yet."""
        has_one = self.is_shared and "error" not in self._description
        return self.target() if has_one else None

    def watch(self) -> Health:
        """Return the health of the target."""
        if self._health is None:
            roles = self.description.get("watched", "").split(",")
            self._health = Health(self.target(), roles)
        return self._health

    def end_report(self) -> str:
        """Return exit status and last output of the target, if it was started here."""
        return self._started.end_report() if self._started is not None else ""

    def replace(self) -> None:
        """Start another target in the place of the broken one.

        Raises TargetError where its kind does not allow that, or it does not start.
        """
        named = parse_target(self._text, profile=self._profile)
        if not named.can_be_started or (named.is_only_one and self.is_shared):
            raise TargetError(f"{self._text} cannot be started again from here")
        self.close()
        description = self._start()
        if "error" in description:
            raise TargetError(description["error"])
        self._description = {**self._description, **description}
        self.target().update(self._description)
        self._health = None

    def leave(self) -> None:
        """Leave the target to the parent process: start another one at first use."""
        self._description, self._health = {}, None
        self._started = self._shared = None

    def close(self) -> None:
        """Stop the target if it was started here."""
        if self._started is not None:
            self._started.close()
            self._started = None

    def _start(self) -> dict[str, str]:
        """Return the description of the target, which starts now.

        The requests of its probe and its check are not of the running test.
        """
        with CONVERSATIONS.apart():
            return self._describe_started()

    def _describe_started(self) -> dict[str, str]:
        try:
            self._started = parse_target(self._text, profile=self._profile)
            self._started.start()
            violations = examine(self._started) if self._started.is_foreign else ()
        except TargetError as error:
            is_started = self._started is not None and self._started.can_be_started
            happened = "did not start" if is_started else "cannot be tested"
            self.close()
            return {"error": f"the target {self._text} {happened}: {error}"}
        except BaseException:
            self.close()
            raise
        description = describe_target(self._started, violations)
        if Capability.WIRE not in self._started.capabilities:
            return description
        return {**description, **self._watched(self._started)}

    def _watched(self, target: Target) -> dict[str, str]:
        """Return the servers to watch, and what the check of *target* finds.

        A target that the check breaks is started once more, if it can be.
        """
        roles = healthy_roles(target)
        found = {"watched": ",".join(roles)}
        if self._check is None:
            return found
        found.update(self._check(target))
        problem = Health(target, roles).problem()
        if problem and target.can_be_started:
            target.kill()
            target.start()
        elif problem:
            found["broken"] = problem
        return found
