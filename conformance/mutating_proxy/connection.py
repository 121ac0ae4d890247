"""
One connection through the proxy: two sockets, and a thread for each direction.

Bytes of the suite pass unchanged, also if they are not frames, unless the mutation is
about requests. Frames of the target are read whole.
"""

from __future__ import annotations

import contextlib
import copy
import socket
import threading
from collections.abc import Callable, Iterable

from conformance.mutating_proxy.frame_tree import Tree, frame_of, tree_of
from conformance.mutating_proxy.frames import FrameBuffer
from conformance.mutating_proxy.mutation import FrameKind, Mutation, Verb
from conformance.mutating_proxy.switch import SWITCH
from spec.layout import LayoutError
from spec.wire.remoting.command import CommandFlag
from spec.wire.remoting.response_code import ResponseCode

CHUNK = 1 << 16
LATE_S = 3.5
"""Longer than Java clients wait for most responses (3000 ms)."""
BEFORE_EXECUTION_S = 1.0
"""Time between the acknowledgement and the execution of a delayed request."""

Exchange = Callable[[bytes], bytes]


class Connection:
    """A connection of the suite, and that of the proxy to the target."""

    def __init__(
        self,
        suite: socket.socket,
        target: socket.socket,
        *,
        exchange: Exchange,
        siblings: Callable[[], Iterable[Connection]],
        is_restarted: bool = False,
    ) -> None:
        self._suite, self._target = suite, target
        self._exchange, self._siblings = exchange, siblings
        self._is_restarted = is_restarted
        self._codes: dict[int, int] = {}
        """Request code by opaque, of the requests that have passed."""
        self._unanswered: set[int] = set()
        """Opaques whose response is dropped."""
        self._sending = threading.Lock()
        self._requests, self._responses = FrameBuffer(), FrameBuffer()
        self._holds = _is_about_requests()
        """Whether each request is held until it is whole."""

    def run(self) -> None:
        """Pass everything on until both sides have closed."""
        back = threading.Thread(target=self._pass_back, daemon=True)
        back.start()
        self._pass_on()
        back.join()
        self.close()

    def close(self) -> None:
        """Close both sockets."""
        for one in (self._suite, self._target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def send_to_suite(self, data: bytes) -> None:
        """Send *data* to the suite, where its connection is open."""
        with contextlib.suppress(OSError), self._sending:
            self._suite.sendall(data)

    def _pass_on(self) -> None:
        """Pass the bytes of the suite to the target."""
        with contextlib.suppress(OSError):
            while data := self._suite.recv(CHUNK):
                for frame in self._requests.add(data):
                    self._pass_request(frame)
                if not self._holds:
                    self._target.sendall(data)
                if self._holds and self._requests.is_broken:
                    self._target.sendall(self._requests.take_rest())
            if self._holds:
                self._target.sendall(self._requests.take_rest())
        with contextlib.suppress(OSError):
            self._target.shutdown(socket.SHUT_WR)

    def _pass_request(self, frame: bytes) -> None:
        """Record the request in *frame*, and pass it on if it was held."""
        tree = _tree(frame)
        is_request = tree is not None and not tree["flag"] & CommandFlag.RESPONSE
        if tree is not None and is_request:
            self._codes[tree["opaque"]] = tree["code"]
            SWITCH.see(FrameKind.REQUEST, tree["code"], tree)
        if not self._holds:
            return
        if tree is not None and is_request:
            self._mutate_request(frame, tree)
        else:
            self._target.sendall(frame)

    def _mutate_request(self, frame: bytes, tree: Tree) -> None:
        mutation = SWITCH.acts_on(FrameKind.REQUEST, tree["code"])
        if mutation is None:
            self._target.sendall(frame)
        elif mutation.is_verb:
            self._execute_wrongly(mutation, frame, tree)
        else:
            changed = SWITCH.changed(FrameKind.REQUEST, tree["code"], frame, tree)
            self._target.sendall(changed)

    def _execute_wrongly(self, mutation: Mutation, frame: bytes, tree: Tree) -> None:
        if mutation.change == Verb.ONCE and SWITCH.is_first():
            self._target.sendall(frame)
            return
        SWITCH.counted()
        if mutation.change == Verb.TWICE:
            again = {**tree, "opaque": tree["opaque"] ^ (1 << 30)}
            self._unanswered.add(again["opaque"])
            self._target.sendall(frame + frame_of(again))
            return
        if not tree["flag"] & CommandFlag.ONEWAY:
            self.send_to_suite(frame_of(self._acknowledgement(tree)))
        if mutation.change == Verb.DELAYED:
            self._unanswered.add(tree["opaque"])
            self._later(BEFORE_EXECUTION_S, self._target, frame)

    def _acknowledgement(self, request: Tree) -> Tree:
        """Return a response that states success, in the form of an earlier one."""
        earlier = SWITCH.previous_response(None) or {**request, "fields": {}}
        made = copy.deepcopy(earlier)
        if earlier is not request and earlier.get("flag") == request["flag"]:
            made["body"] = b""
        values = {"code": ResponseCode.SUCCESS, "remark": None}
        flag = request["flag"] | CommandFlag.RESPONSE
        return {**made, **values, "opaque": request["opaque"], "flag": flag}

    def _pass_back(self) -> None:
        """Pass the frames of the target to the suite."""
        with contextlib.suppress(OSError):
            while data := self._target.recv(CHUNK):
                for frame in self._responses.add(data):
                    self._pass_frame(self._exchange(frame))
                if self._responses.is_broken:
                    self.send_to_suite(self._responses.take_rest())
        with contextlib.suppress(OSError), self._sending:
            self._suite.shutdown(socket.SHUT_WR)

    def _pass_frame(self, frame: bytes) -> None:
        tree = _tree(frame)
        if tree is None:
            self.send_to_suite(frame)
            return
        is_response = tree["flag"] & CommandFlag.RESPONSE
        frame_kind = FrameKind.RESPONSE if is_response else FrameKind.NOTIFICATION
        code = self._codes.get(tree["opaque"]) if is_response else tree["code"]
        if is_response and tree["opaque"] in self._unanswered:
            self._unanswered.discard(tree["opaque"])
            return
        if code is None:  # the request was not a whole command
            self.send_to_suite(frame)
            return
        SWITCH.see(frame_kind, code, tree)
        if is_response and SWITCH.acts_on(FrameKind.REQUEST, code):
            SWITCH.previous_response(copy.deepcopy(tree))
        if is_response and self._is_restarted:
            SWITCH.see(FrameKind.RESTARTED, code, tree)
            if SWITCH.acts_on(FrameKind.RESTARTED, code):
                frame_kind = FrameKind.RESTARTED
        mutation = SWITCH.acts_on(frame_kind, code)
        if mutation is None:
            self.send_to_suite(frame)
        elif mutation.is_verb:
            self._send_wrongly(mutation, frame, tree)
        else:
            self.send_to_suite(SWITCH.changed(frame_kind, code, frame, tree))

    def _send_wrongly(self, mutation: Mutation, frame: bytes, tree: Tree) -> None:
        verb = Verb(mutation.change)
        if verb in _REWRITES:
            before = SWITCH.previous_response(copy.deepcopy(tree))
            made = _REWRITES[verb](tree, before)
            if made is not None:
                SWITCH.counted()
            self.send_to_suite(frame if made is None else frame_of(made))
            return
        SWITCH.counted()
        if verb is Verb.TWICE:
            self.send_to_suite(frame + frame)
        elif verb is Verb.LATE:
            self._later(LATE_S, self._suite, frame)
        elif verb is Verb.CLOSED:
            self.close()
        elif verb is Verb.TO_ANOTHER:
            for other in self._siblings():
                if other is not self:
                    other.send_to_suite(frame)
                    break

    def _later(self, delay_s: float, sink: socket.socket, data: bytes) -> None:
        def send() -> None:
            with contextlib.suppress(OSError):
                sink.sendall(data)

        timer = threading.Timer(delay_s, send)
        timer.daemon = True
        timer.start()


def _with_other_opaque(tree: Tree, _: Tree | None) -> Tree | None:
    return {**tree, "opaque": tree["opaque"] + 1}


def _as_error(tree: Tree, _: Tree | None) -> Tree | None:
    if tree["code"] != ResponseCode.SUCCESS:
        return None
    values = {"code": int(ResponseCode.SYSTEM_ERROR), "remark": "mutated"}
    return {**tree, **values, "fields": {}, "body": b""}


def _as_success(tree: Tree, _: Tree | None) -> Tree | None:
    is_success = tree["code"] == ResponseCode.SUCCESS
    return None if is_success else {**tree, "code": int(ResponseCode.SUCCESS)}


def _as_previous(tree: Tree, before: Tree | None) -> Tree | None:
    if before is None or {**before, "opaque": 0} == {**tree, "opaque": 0}:
        return None
    return {**before, "opaque": tree["opaque"]}


_REWRITES: dict[Verb, Callable[[Tree, Tree | None], Tree | None]] = {
    Verb.OTHER_OPAQUE: _with_other_opaque,
    Verb.ERROR: _as_error,
    Verb.SUCCESS: _as_success,
    Verb.PREVIOUS: _as_previous,
}


def _tree(frame: bytes) -> Tree | None:
    try:
        return tree_of(frame)
    except LayoutError:
        return None


def _is_about_requests() -> bool:
    mutation = SWITCH.mutation
    return mutation is not None and mutation.frame_kind is FrameKind.REQUEST
