"""
Users since 5.3: authentication of a request, and the requests that manage users.

A broker with ``authenticationEnabled=true`` checks the signature of every request
(Java: AuthenticationPipeline). Users are in RocksDB below ``authConfigPath``, not in a
file to edit. A super user passes every check of `policies`.
"""

from __future__ import annotations

from spec.clause import Clause, Level

NO_USERNAME = "username cannot be null."
UNKNOWN_USER = "User:{username} is not found."
DISABLED_USER = "User:{username} is disabled."
WRONG_SIGNATURE = "check signature failed."
USER_EXISTS = "The user is existed"
USER_IS_MISSING = "The user is not exist"
BLANK_USERNAME = "The username is blank"
ONLY_SUPER_CREATES_SUPER = "The super user can only be create by super user"
ONLY_SUPER_CHANGES_SUPER = "The super user can only be update by super user"

_HANDLER = "5.3.3 org.apache.rocketmq.auth.authentication.chain"
_HANDLER += ".DefaultAuthenticationHandler"
_ADMIN = "5.3.3 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"

REFUSAL = Clause(
    id="SEC-USER-001",
    level=Level.MUST,
    text=(
        "With authenticationEnabled=true, a request that is not authenticated is "
        "answered with NO_PERMISSION (16), and the remark is the reason alone."
    ),
    source="5.3.3 org.apache.rocketmq.broker.auth.pipeline.AuthenticationPipeline"
    "#execute",
    since="5.3",
)
UNSIGNED = Clause(
    id="SEC-USER-002",
    level=Level.MUST,
    text=(
        "A request without the header field AccessKey is refused, with the remark "
        "username cannot be null."
    ),
    source=f"{_HANDLER}#getUser",
    since="5.3",
)
UNKNOWN = Clause(
    id="SEC-USER-003",
    level=Level.MUST,
    text=(
        "A request whose AccessKey is not the name of a user is refused, with the "
        "remark User:NAME is not found."
    ),
    source=f"{_HANDLER}#doAuthenticate",
    since="5.3",
)
SIGNATURE_CHECKED = Clause(
    id="SEC-USER-004",
    level=Level.MUST,
    text=(
        "A request without Signature, or with that of another password, is refused, "
        "with the remark check signature failed."
    ),
    source=f"{_HANDLER}#doAuthenticate",
    since="5.3",
)
DISABLED = Clause(
    id="SEC-USER-005",
    level=Level.MUST,
    text=(
        "A request of a user with the status disable is refused, with the remark "
        "User:NAME is disabled, whether its signature is valid or not."
    ),
    source=f"{_HANDLER}#doAuthenticate",
    since="5.3",
)
ONEWAY_IS_ANSWERED = Clause(
    id="SEC-USER-006",
    level=Level.MUST,
    text="A refused oneway request gets no response, and is not processed.",
    source="5.3.3 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#writeResponse",
    since="5.3",
)
CREATED = Clause(
    id="SEC-USER-007",
    level=Level.MUST,
    text=(
        "AUTH_CREATE_USER (3001) creates the user in its header field username, with "
        "the password, userType and userStatus of its JSON body. Without the latter "
        "two it is Normal and enable."
    ),
    source=f"{_ADMIN}#createUser",
    since="5.3",
)
CREATED_TWICE = Clause(
    id="SEC-USER-008",
    level=Level.MUST,
    text=(
        "AUTH_CREATE_USER (3001) for an existing user is answered with NO_PERMISSION "
        "(16) and the remark The user is existed."
    ),
    source="5.3.3 org.apache.rocketmq.auth.authentication.manager"
    ".AuthenticationMetadataManagerImpl#createUser",
    since="5.3",
)
UPDATED = Clause(
    id="SEC-USER-009",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, AUTH_UPDATE_USER (3002) changes the members that its body has, "
        "and keeps the others. A new password is in force with the next request. "
        "5.3.0 and 5.3.1 answer SUCCESS (0) and change nothing."
    ),
    source=f"{_ADMIN}#updateUser",
    since="5.3.2",
)
UPDATE_OF_MISSING = Clause(
    id="SEC-USER-010",
    level=Level.MUST,
    text=(
        "AUTH_UPDATE_USER (3002) for an unknown user is answered with NO_PERMISSION "
        "(16) and the remark The user is not exist."
    ),
    source=f"{_ADMIN}#updateUser",
    since="5.3",
)
DELETED = Clause(
    id="SEC-USER-011",
    level=Level.MUST,
    text=(
        "AUTH_DELETE_USER (3003) removes a user and its policies. It succeeds for an "
        "unknown user."
    ),
    source=f"{_ADMIN}#deleteUser",
    since="5.3",
)
GOT = Clause(
    id="SEC-USER-012",
    level=Level.QUIRK,
    text=(
        "AUTH_GET_USER (3004) returns the user as JSON: username, password, userType "
        "and userStatus. The password is in clear. An unknown user has no body."
    ),
    source="5.3.3 org.apache.rocketmq.broker.auth.converter.UserConverter#convertUser",
    since="5.3",
)
LISTED = Clause(
    id="SEC-USER-013",
    level=Level.MUST,
    text=(
        "AUTH_LIST_USER (3005) returns the users whose names contain its header field "
        "filter, as a JSON list. An empty list has no body."
    ),
    source=f"{_ADMIN}#listUser",
    since="5.3",
)
SUPER_USERS_ARE_KEPT = Clause(
    id="SEC-USER-014",
    level=Level.MUST,
    text=(
        "A user that is not Super cannot create, change or delete a super user, even "
        "with every action on the cluster."
    ),
    source=f"{_ADMIN}#isNotSuperUserLogin",
    since="5.3",
)
BLANK = Clause(
    id="SEC-USER-015",
    level=Level.MUST,
    text=(
        "From 5.3.2 on, AUTH_CREATE_USER (3001), AUTH_UPDATE_USER (3002) and "
        "AUTH_GET_USER (3004) without username are answered with INVALID_PARAMETER "
        "(29) and the remark The username is blank. Earlier releases use "
        "SYSTEM_ERROR (1)."
    ),
    source=f"{_ADMIN}#createUser",
    since="5.3.2",
)
