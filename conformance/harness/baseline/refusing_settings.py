"""Settings and users by which a broker refuses what nearly all tests need."""

from __future__ import annotations

import re

from conformance.harness.client.conversations import CONVERSATIONS
from conformance.harness.client.exchanges import exchanges
from conformance.harness.client.peer_errors import PeerError
from conformance.harness.targets.target import NoServerError, Target
from spec.clause import release_key
from spec.layout import LayoutError
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

CREATES_GROUPS = "autoCreateSubscriptionGroup", "true"
LARGE_MESSAGES = "maxMessageSize", str(4 * 1024 * 1024)
FIRST_TO_IGNORE = (5,)
"""Series in which a heartbeat of an unknown group gets a success, and no effect."""
ACCEPTING: dict[int, tuple[tuple[str, str], ...]] = {
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: (CREATES_GROUPS,),
    ResponseCode.NO_PERMISSION: (
        ("brokerPermission", "6"),
        ("rejectTransactionMessage", "false"),
    ),
    ResponseCode.SLAVE_NOT_AVAILABLE: (("brokerRole", "ASYNC_MASTER"),),
    ResponseCode.MESSAGE_ILLEGAL: (LARGE_MESSAGES,),
}
"""By response code, settings with the values that prevent it."""
ACCESS_REFUSED = "org.apache.rocketmq.acl.common.AclException"
"""Beginning of the remark of a SYSTEM_ERROR by plain_acl.yml, from 4.4 to 5.3.2."""
USERS_REFUSED = re.compile(
    r"username cannot be null\.|User:\S+ is (not found|disabled)\.|check signature "
    r"failed\.|\S+ has no permission to access \S+ from \S+, .*"
)
"""Remark of a NO_PERMISSION to a user, from 5.3 on."""
UNREADABLE = PeerError, NoServerError, AssertionError, LayoutError, ValueError


def refused_access(*, is_foreign: bool) -> str:
    """Return why the running test has no verdict: a user without rights; else empty."""
    transcripts = CONVERSATIONS.transcripts() if is_foreign else []
    for _, response in exchanges(transcripts):
        if is_refused_access(response):
            return f"the target refuses access: {response.remark}"
    return ""


def is_refused_access(response: Command) -> bool:
    """Return whether *response* is a refusal by plain_acl.yml, or to a user."""
    remark = response.remark or ""
    if response.code == ResponseCode.NO_PERMISSION:
        return USERS_REFUSED.fullmatch(remark) is not None
    is_error = response.code == ResponseCode.SYSTEM_ERROR
    return is_error and remark.startswith(ACCESS_REFUSED)


def refusing_settings(target: Target, required: str = "") -> str:
    """Return why a foreign *target* refused in the running test, if by its settings.

    Empty if its broker reports other values, or none. A response code that the text
    *required* names is no refusal.
    """
    transcripts = CONVERSATIONS.transcripts() if target.is_foreign else []
    exchanged = list(exchanges(transcripts))
    codes = {response.code for _, response in exchanged}
    wanted = [
        setting
        for code in sorted(codes.intersection(ACCEPTING))
        if ResponseCode(code).name not in required
        for setting in ACCEPTING[code]
    ]
    has_heartbeat = any(sent.code == RequestCode.HEART_BEAT for sent, _ in exchanged)
    if has_heartbeat and release_key(target.release) >= FIRST_TO_IGNORE:
        wanted = sorted({*wanted, CREATES_GROUPS})
    if not wanted:
        return ""
    try:
        with CONVERSATIONS.apart(), target.connect_for_admin() as admin:
            settings = admin.broker_settings()
    except UNREADABLE:
        return ""
    others = [
        f"{name}={value} ({settings[name]} there)"
        for name, value in wanted
        if refuses_more(settings.get(name, value), value)
    ]
    return f"it needs the settings {', '.join(others)}" if others else ""


def refuses_more(value: str, needed: str) -> bool:
    """Return whether a setting differs from *needed*, which is the least number."""
    if value.isdecimal() and needed.isdecimal():
        return int(value) < int(needed)
    return value != needed
