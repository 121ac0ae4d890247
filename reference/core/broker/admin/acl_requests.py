"""
Requests that change plain_acl.yml, or return it (Java: AdminBrokerProcessor).

As in 4.6.0, an account needs no permission for them (SEC-PERM-002).
"""

from __future__ import annotations

from functools import partial

from reference.core.broker.acl.accounts import AclFileError
from reference.core.broker.acl.changes import (
    Change,
    delete_account,
    put_account,
    replace_white_addresses,
)
from reference.core.broker.state import BrokerState
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response
from spec.routing.topic_config import encode_data_version
from spec.security.plain_acl import ACCOUNTS, WHITE_ADDRESSES
from spec.wire.bodies import fastjson
from spec.wire.remoting.response_code import ResponseCode


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
    return Response(body=fastjson.dumps(shown))  # [SEC-ACLCONFIG-007]


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
