"""
The one target of a run, started once and shared by all its tests.

With several workers, the process that hands out the tests starts the target and tells
each worker where it is. Nobody stops or kills a shared target: a test that wants to
starts one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from conformance.harness.address import Address
from conformance.harness.options import Options
from conformance.harness.probing import examine
from conformance.harness.target import Capability, Target, TargetError, parse_target


class LiveTarget(Target):
    """A started target that somebody else will stop."""

    def __init__(self, told: Mapping[str, str]) -> None:
        super().__init__(told["text"])
        self.release = told["release"]
        self.namesrv = _address(told["namesrv"])
        self.broker = _address(told["broker"])
        self.broker_name, self.cluster = told["broker_name"], told["cluster"]
        self.store_path = Path(told["store_path"]) if told["store_path"] else None
        names = filter(None, told["capabilities"].split(","))
        self.capabilities = frozenset(Capability(name) for name in names)
        self.refuses = refuses_of(told)


def told_of(target: Target, complaints: Iterable[str] = ()) -> dict[str, str]:
    """Return what a worker must be told of a started *target*, and of its honesty."""
    return {
        "text": target.text,
        "release": target.release,
        "namesrv": str(target.namesrv or ""),
        "broker": str(target.broker or ""),
        "broker_name": target.broker_name,
        "cluster": target.cluster,
        "store_path": str(target.store_path or ""),
        "capabilities": ",".join(sorted(target.capabilities)),
        "refuses": ",".join(str(code) for code in sorted(target.refuses)),
        "complaints": "\n".join(complaints),
    }


def refuses_of(told: Mapping[str, str]) -> frozenset[int]:
    """Return the codes of the requests that the target refuses."""
    return frozenset(map(int, filter(None, told.get("refuses", "").split(","))))


def _address(text: str) -> Address | None:
    return Address.parse(text) if text else None


class Host:
    """Starts the run's target when it is first asked for, and stops it at the end.

    A target that did not start is not tried again: every test that needs it is told
    the same reason.
    """

    def __init__(self, options: Options, told: Mapping[str, str] | None = None) -> None:
        self._options = options
        self._told = dict(told or {})
        self._started: Target | None = None

    @property
    def told(self) -> dict[str, str]:
        """What workers must be told; the target is started for it."""
        if not self._told:
            self._told = self._start()
        return self._told

    def target(self) -> LiveTarget:
        """Return the run's target."""
        if "error" in self.told:
            raise TargetError(self.told["error"])
        return LiveTarget(self.told)

    def close(self) -> None:
        """Stop the target if it was started here."""
        if self._started is not None:
            self._started.close()
            self._started = None

    def _start(self) -> dict[str, str]:
        try:
            text, profile = self._options.target, self._options.profile
            self._started = parse_target(text, profile=profile)
            self._started.start()
            complaints = examine(self._started) if self._started.is_foreign else ()
        except TargetError as error:
            self.close()
            return {
                "error": f"the target {self._options.target} did not start: {error}"
            }
        except BaseException:
            self.close()
            raise
        return told_of(self._started, complaints)
