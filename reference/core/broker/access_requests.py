"""
Requests about access control, which is off: they are refused as 4.6.0 refuses them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.core.answer import Answer
from reference.core.request import Request
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

_CODES = {
    RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: (
        ResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED
    ),
    RequestCode.DELETE_ACL_CONFIG: ResponseCode.DELETE_ACL_CONFIG_FAILED,
    RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: (
        ResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED
    ),
}


def change_access(_: Broker, request: Request) -> Answer:
    """Refuse to change accounts or addresses: there are none."""
    return Answer(_CODES[RequestCode(request.code)])  # [ADMIN-ACL-001]


def tell_access(_: Broker, __: Request) -> None:
    """Answer nothing."""  # [ADMIN-ACL-002]
