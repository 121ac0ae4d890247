"""
Requests that change plain_acl.yml, or return it (Java: AdminBrokerProcessor).

As in 4.6.0, an account needs no permission for them (SEC-PERM-002). A change that would
leave a malformed file is refused. 4.6.0 writes such a file, and ignores it at the next
reload. Comments in the file are lost, as in Java.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from reference.core.broker.acl.access_control import AclObject, Change
from reference.core.broker.acl.accounts import AclFileError
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response, json_response
from spec.routing.topic_config import encode_data_version
from spec.security.plain_acl import ACCOUNTS, KEY_LENGTH_MIN, WHITE_ADDRESSES
from spec.wire.remoting.response_code import ResponseCode

_TEXTS = ("secretKey", "whiteRemoteAddress", "defaultTopicPerm", "defaultGroupPerm")
_LISTS = ("topicPerms", "groupPerms")


def put_account(read: AclObject, fields: Mapping[str, str]) -> None:
    """Add an account, or replace values of one.

    Values that are empty in *fields* stay as they are, except admin.
    """
    access_key = fields.get("accessKey", "")
    for name in ("accessKey", "secretKey"):
        key = fields.get(name) or access_key
        if len(key) < KEY_LENGTH_MIN:  # [SEC-ACLCONFIG-003]
            raise AclFileError(f"The {name} should be longer than 6")
    if read.get(ACCOUNTS) is None:  # as 4.6.0 PlainPermissionManager
        raise AclFileError(
            f"The accesskey[{access_key}] corresponding to accessConfig has been "
            "updated failed."
        )
    entry = _take(read, access_key)
    if entry is None:
        entry = {"accessKey": access_key}
    entry |= {name: fields[name] for name in _TEXTS if fields.get(name)}
    entry |= {name: fields[name].split(",") for name in _LISTS if fields.get(name)}
    entry["admin"] = fields.get("admin", "").lower() == "true"
    read[ACCOUNTS].append(entry)  # [SEC-ACLCONFIG-001]


def delete_account(read: AclObject, access_key: str) -> None:
    """Remove an account."""
    if _take(read, access_key) is None:  # [SEC-ACLCONFIG-004]
        raise AclFileError(
            f"The accesskey[{access_key}] corresponding to accessConfig has been "
            "deleted failed."
        )


def replace_white_addresses(read: AclObject, addresses: Sequence[str]) -> None:
    """Replace the global white list."""
    if WHITE_ADDRESSES not in read:
        shown = ",".join(addresses)
        raise AclFileError(
            f"The globalWhiteAddresses[{shown}] has been updated failed."
        )
    read[WHITE_ADDRESSES] = list(addresses)  # [SEC-ACLCONFIG-005]


def _take(read: AclObject, access_key: str) -> dict[str, Any] | None:
    """Remove the account from *read*, and return it; None without one."""
    entries: list[dict[str, Any]] = read.get(ACCOUNTS) or []
    for entry in entries:
        if str(entry.get("accessKey")) == access_key:
            entries.remove(entry)
            return entry
    return None


def update_account(state: BrokerState, request: Request) -> Response:
    """Add an account, or change values of one."""
    change = partial(put_account, fields=request.fields)
    code = ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED
    return _changed(state, request, change, code)


def remove_account(state: BrokerState, request: Request) -> Response:
    """Delete an account."""
    change = partial(delete_account, access_key=request.text("accessKey"))
    return _changed(state, request, change, ResponseCode.DELETE_ACL_CONFIG_FAILED)


def update_white_addresses(state: BrokerState, request: Request) -> Response:
    """Replace the global white list."""
    addresses = request.text("globalWhiteAddrs").split(",")
    change = partial(replace_white_addresses, addresses=addresses)
    code = ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED
    return _changed(state, request, change, code)


def access_version(state: BrokerState, _: Request) -> Response | None:
    """Return the version of the accounts; no response while access control is off."""
    control = state.access_control
    if control is None:  # [ADMIN-ACL-002]
        return None
    options = state.options
    return Response(  # [SEC-ACLCONFIG-006]
        fields={
            "version": encode_data_version(control.version).decode(),
            "brokerName": options.broker_name,
            "brokerAddr": options.address,
            "clusterName": options.broker_cluster_name,
        }
    )


def all_accounts(state: BrokerState, _: Request) -> Response | None:
    """Return the accounts; no response while access control is off."""
    control = state.access_control
    if control is None:
        return None
    read = control.read()
    shown = {
        "globalWhiteAddrs": read.get(WHITE_ADDRESSES) or [],
        "plainAccessConfigs": read.get(ACCOUNTS) or [],
    }
    return json_response(shown)  # [SEC-ACLCONFIG-007]


def _changed(
    state: BrokerState, request: Request, change: Change, failed: ResponseCode
) -> Response:
    """Make *change*, or respond with the code *failed* and the reason."""
    if state.access_control is None:  # [ADMIN-ACL-001]
        return Response(failed)
    try:
        state.access_control.change(change, request.now_ms)
    except AclFileError as error:
        return Response(failed, str(error))
    return Response()
