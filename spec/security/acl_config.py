"""
Requests that change plain_acl.yml, and that return it (mqadmin updateAclConfig …).

The broker writes the file anew, and its accounts are in force from the next reload on.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_ADMIN = "4.6.0 org.apache.rocketmq.broker.processor.AdminBrokerProcessor"
_MANAGER = "4.6.0 org.apache.rocketmq.acl.plain.PlainPermissionManager"
_FIRST, _LAST = "4.5.2", "4.9"

ADDS = Clause(
    id="SEC-ACLCONFIG-001",
    level=Level.MUST,
    text=(
        "UPDATE_AND_CREATE_ACL_CONFIG (50) with an unknown accessKey adds an account "
        "to plain_acl.yml, and is answered SUCCESS. The account is in force within "
        "seconds. The header fields topicPerms and groupPerms are lists with commas."
    ),
    source=f"{_MANAGER}#updateAccessConfig",
    since=_FIRST,
    until=_LAST,
)
CHANGES = Clause(
    id="SEC-ACLCONFIG-002",
    level=Level.MUST,
    text=(
        "UPDATE_AND_CREATE_ACL_CONFIG (50) with the accessKey of an account replaces "
        "in plain_acl.yml admin and the values that the request has. The other values "
        "of the account stay."
    ),
    source=f"{_MANAGER}#createAclAccessConfigMap",
    since=_FIRST,
    until=_LAST,
)
SHORT_KEYS = Clause(
    id="SEC-ACLCONFIG-003",
    level=Level.MUST,
    text=(
        "UPDATE_AND_CREATE_ACL_CONFIG (50) with an accessKey or a secretKey of 6 "
        "characters or less is refused with UPDATE_AND_CREATE_ACL_CONFIG_FAILED (209)."
    ),
    source=f"{_MANAGER}#createAclAccessConfigMap",
    since=_FIRST,
    until=_LAST,
)
DELETES = Clause(
    id="SEC-ACLCONFIG-004",
    level=Level.MUST,
    text=(
        "DELETE_ACL_CONFIG (51) removes the account, whose requests are refused within "
        "seconds. An unknown accessKey is answered with DELETE_ACL_CONFIG_FAILED (210)."
    ),
    source=f"{_MANAGER}#deleteAccessConfig",
    since=_FIRST,
    until=_LAST,
)
REPLACES_WHITE_LIST = Clause(
    id="SEC-ACLCONFIG-005",
    level=Level.MUST,
    text=(
        "UPDATE_GLOBAL_WHITE_ADDRS_CONFIG (53) replaces globalWhiteRemoteAddresses by "
        "the addresses in the header field globalWhiteAddrs, a list with commas."
    ),
    source=f"{_MANAGER}#updateGlobalWhiteAddrsConfig",
    since=_FIRST,
    until=_LAST,
)
RETURNS_VERSION = Clause(
    id="SEC-ACLCONFIG-006",
    level=Level.MUST,
    text=(
        "GET_BROKER_CLUSTER_ACL_INFO (52) is answered with the header fields version, "
        "brokerName, brokerAddr and clusterName. The version is a JSON object with "
        "counter and timestamp (DataVersion)."
    ),
    source=f"{_ADMIN}#getBrokerAclConfigVersion",
    since=_FIRST,
    until=_LAST,
)
RETURNS_SECRETS = Clause(
    id="SEC-ACLCONFIG-007",
    level=Level.QUIRK,
    text=(
        "From 4.6 to 4.9.7, GET_BROKER_CLUSTER_ACL_CONFIG (54) returns every "
        "account with its secret key as text, to any account."
    ),
    source=f"{_ADMIN}#getBrokerClusterAclConfig",
    since="4.6",
    until="4.9.7",
)
COUNTS_CHANGES = Clause(
    id="SEC-ACLCONFIG-008",
    level=Level.MUST,
    text=(
        "Each change by the requests 50, 51 and 53 adds 1 to the counter of "
        "dataVersion in plain_acl.yml."
    ),
    source=f"{_MANAGER}#updateAclConfigFileVersion",
    since=_FIRST,
    until=_LAST,
)
