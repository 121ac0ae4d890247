"""
Wrong client as a target: ``wrong-client:ID COMMAND``.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.harness.targets.client_adapter import Adapter
from conformance.harness.targets.client_target import ClientTarget
from conformance.harness.targets.target import TargetError
from conformance.wrong_clients.wrong_clients import WRONG_CLIENTS
from spec.wire.remoting.command import Command


class WrongClientTarget(ClientTarget):
    """A client whose requests have one fault."""

    _earlier: dict[int, Command]

    def launch(self) -> Adapter:
        """Return the adapter of COMMAND, started anew."""
        name, _, command = self.rest.partition(" ")
        if name not in WRONG_CLIENTS or not command:
            known = ", ".join(WRONG_CLIENTS)
            raise TargetError(f"{self.rest}: ID COMMAND is required, of {known}")
        self._earlier = {}
        return Adapter(command, directory=self.directory())

    def altered(self, request: Command) -> Sequence[Command]:
        """Return *request* with the fault, perhaps none or several."""
        fault = WRONG_CLIENTS[self.rest.partition(" ")[0]].fault
        found = fault(request, self._earlier)
        self._earlier[request.code] = request
        return found
