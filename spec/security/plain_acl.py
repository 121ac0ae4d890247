"""
Access control of 4.4 to 5.3.2: the accounts in ``conf/plain_acl.yml``.

A broker with ``aclEnable=true`` checks every request before its processor (Java:
PlainPermissionManager): first the white lists, then the signature, then the permission.
The file is read again when it changes. Name servers check nothing.
"""

from __future__ import annotations

from spec.clause import Clause, Level

FILE = "conf/plain_acl.yml"
"""The file, below the broker's home (Java: ROCKETMQ_HOME)."""
WHITE_ADDRESSES = "globalWhiteRemoteAddresses"
ACCOUNTS = "accounts"
DATA_VERSION = "dataVersion"
KEY_LENGTH_MIN = 7
"""Characters of an access key and of a secret key, at least."""

EXCEPTION = "org.apache.rocketmq.acl.common.AclException"
"""Beginning of the remark of a refusal, before a colon and the reason."""
NO_ACCESS_KEY = "No accessKey is configured"
UNKNOWN_ACCESS_KEY = "No acl config for {access_key}"
NO_RESOURCE = "No PlainAccessResource for accessKey={access_key}"
WRONG_SIGNATURE = "Check signature failed for accessKey={access_key}"
NEEDS_ADMIN = (
    "Need admin permission for request code={code}, but accessKey={access_key} is not"
)
NO_PERMISSION = "No default permission for {resource}"

_MANAGER = "4.6.0 org.apache.rocketmq.acl.plain.PlainPermissionManager"
_LAST = "5.3.2"

REFUSAL = Clause(
    id="SEC-ACL-001",
    level=Level.MUST,
    text=(
        "With aclEnable=true, a refused request is answered with SYSTEM_ERROR (1). The "
        "remark begins with org.apache.rocketmq.acl.common.AclException and a colon."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#processRequestCommand",
    until=_LAST,
)
UNSIGNED = Clause(
    id="SEC-ACL-002",
    level=Level.MUST,
    text=(
        "A request without the header field AccessKey is refused, with the remark No "
        "accessKey is configured."
    ),
    source=f"{_MANAGER}#validate",
    until=_LAST,
)
UNKNOWN_ACCOUNT = Clause(
    id="SEC-ACL-003",
    level=Level.MUST,
    text=(
        "A request with an AccessKey that plain_acl.yml does not have is refused, with "
        "the remark No acl config for KEY."
    ),
    source=f"{_MANAGER}#validate",
    until=_LAST,
)
SIGNATURE_CHECKED = Clause(
    id="SEC-ACL-004",
    level=Level.MUST,
    text=(
        "A request without Signature, or with that of another secret key, is refused, "
        "with the remark Check signature failed for accessKey=KEY."
    ),
    source=f"{_MANAGER}#validate",
    until=_LAST,
)
ADMITTED = Clause(
    id="SEC-ACL-005",
    level=Level.MUST,
    text="A request with a valid signature and the needed permission is processed.",
    source=f"{_MANAGER}#validate",
    until=_LAST,
)
SIGNATURE_BEFORE_PERMISSION = Clause(
    id="SEC-ACL-006",
    level=Level.SHOULD,
    text=(
        "The signature is checked before any permission: without a valid one the "
        "remark has no topic and no group."
    ),
    source=f"{_MANAGER}#validate",
    until=_LAST,
)
ONEWAY_IS_DROPPED = Clause(
    id="SEC-ACL-007",
    level=Level.MUST,
    text="A refused oneway request gets no response, and is not processed.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#processRequestCommand",
    until=_LAST,
)
NAME_SERVER_IS_OPEN = Clause(
    id="SEC-ACL-008",
    level=Level.MUST,
    text=(
        "A name server has no access control. It answers unsigned requests, and "
        "requests with a wrong signature."
    ),
    source="4.6.0 org.apache.rocketmq.namesrv.NamesrvController#initialize",
)
DEFAULT_TOPIC_PERMISSION = Clause(
    id="SEC-ACL-009",
    level=Level.MUST,
    text=(
        "For a topic outside topicPerms, defaultTopicPerm of the account is its "
        "permission. Without that entry it is DENY."
    ),
    source=f"{_MANAGER}#checkPerm",
    since="4.5",
    until=_LAST,
)
DEFAULT_GROUP_PERMISSION = Clause(
    id="SEC-ACL-010",
    level=Level.MUST,
    text=(
        "For a group outside groupPerms, defaultGroupPerm of the account is its "
        "permission. Without that entry it is DENY."
    ),
    source=f"{_MANAGER}#checkPerm",
    since="4.5",
    until=_LAST,
)
DEFAULTS_DO_NOT_APPLY = Clause(
    id="SEC-ACL-011",
    level=Level.QUIRK,
    text=(
        "Up to 4.4, defaultTopicPerm and defaultGroupPerm have no effect: a resource "
        "outside topicPerms and groupPerms is denied."
    ),
    source="4.4.0 org.apache.rocketmq.acl.plain.PlainPermissionLoader#checkPerm",
    until="4.4",
)
LISTED_PERMISSION = Clause(
    id="SEC-ACL-012",
    level=Level.MUST,
    text=(
        "An entry NAME=PERMISSION of topicPerms or groupPerms replaces the default for "
        "this topic or group, also by less."
    ),
    source=f"{_MANAGER}#checkPerm",
    until=_LAST,
)
PERMISSION_WORDS = Clause(
    id="SEC-ACL-013",
    level=Level.MUST,
    text=(
        "The permissions are PUB, SUB, PUB|SUB, SUB|PUB and DENY, with spaces around "
        "them ignored. Any other word is DENY."
    ),
    source="4.6.0 org.apache.rocketmq.acl.common.Permission#parsePermFromString",
    until=_LAST,
)
ADMIN_HAS_ALL = Clause(
    id="SEC-ACL-014",
    level=Level.MUST,
    text=(
        "An account with admin: true and without topicPerms and groupPerms has every "
        "permission."
    ),
    source=f"{_MANAGER}#checkPerm",
    since="4.5",
    until=_LAST,
)
ADMIN_WITH_LISTS = Clause(
    id="SEC-ACL-015",
    level=Level.QUIRK,
    text=(
        "Up to 5.1.0, an account with admin: true and an entry in topicPerms or "
        "groupPerms is bound to its permissions and defaults like any other. From "
        "5.1.1 on it has every permission."
    ),
    source=f"{_MANAGER}#checkPerm",
    since="4.5",
    until="5.1.0",
)
RELOADED = Clause(
    id="SEC-ACL-016",
    level=Level.MUST,
    text=(
        "A changed plain_acl.yml is in force within seconds, without a restart: new "
        "accounts, changed keys and permissions, and removed accounts."
    ),
    source=f"{_MANAGER}#watch",
    until=_LAST,
)
MALFORMED_IS_IGNORED = Clause(
    id="SEC-ACL-017",
    level=Level.MUST,
    text=(
        "If plain_acl.yml becomes malformed while the broker runs, the accounts before "
        "the change stay in force."
    ),
    source="4.6.0 org.apache.rocketmq.srvutil.FileWatchService#run",
    until=_LAST,
)
SHORT_KEYS_ARE_MALFORMED = Clause(
    id="SEC-ACL-018",
    level=Level.MUST,
    text=(
        "A plain_acl.yml with an access key or a secret key of 6 characters or less is "
        "malformed as a whole."
    ),
    source=f"{_MANAGER}#buildPlainAccessResource",
    until=_LAST,
)
REMOVED_ACCOUNT = Clause(
    id="SEC-ACL-019",
    level=Level.SHOULD,
    text=(
        "Up to 4.9.2, a request of an account that was removed from plain_acl.yml is "
        "refused with the remark No acl config for KEY."
    ),
    source=f"{_MANAGER}#validate",
    until="4.9.2",
)
REMOVED_ACCOUNT_STAYS_LISTED = Clause(
    id="SEC-ACL-020",
    level=Level.QUIRK,
    text=(
        "From 4.9.4 on, a request of an account that was removed from plain_acl.yml is "
        "refused with the remark No PlainAccessResource for accessKey=KEY."
    ),
    source="4.9.7 org.apache.rocketmq.acl.plain.PlainPermissionManager#validate",
    since="4.9.4",
    until=_LAST,
)
FIRST_WHITE_LIST_STAYS = Clause(
    id="SEC-ACL-021",
    level=Level.QUIRK,
    text=(
        "From 4.9.3 on, a plain_acl.yml without white addresses at the start of the "
        "broker gets some and loses them again. They stay in force until a restart."
    ),
    source="4.9.7 org.apache.rocketmq.acl.plain.PlainPermissionManager#load",
    since="4.9.3",
    until=_LAST,
)
WITHOUT_FIELDS = Clause(
    id="SEC-ACL-022",
    level=Level.MUST,
    text=(
        "A request without any header field is refused like one without AccessKey, "
        "with the remark No accessKey is configured."
    ),
    source="4.6.0 org.apache.rocketmq.acl.plain.PlainAccessValidator#parse",
    since="4.5",
    until=_LAST,
)
