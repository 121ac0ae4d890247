"""
Policies since 5.3: authorization of a request by the resources that it names.

An ACL belongs to a user. It has a Custom and a Default policy, each with entries of a
resource, actions, source addresses and a decision (Java: AclAuthorizationHandler).
Super users are not checked.
"""

from __future__ import annotations

from spec.clause import Clause, Level

NO_POLICY = (
    "User:{username} has no permission to access {resource} from {address}, no matched "
    "policies."
)
DENIED = (
    "User:{username} has no permission to access {resource} from {address}, the "
    "decision is deny."
)
UNKNOWN_SUBJECT = "The subject of User:{username} is not exist."

_HANDLER = "5.3.3 org.apache.rocketmq.auth.authorization.chain.AclAuthorizationHandler"
_BUILDER = (
    "5.3.3 org.apache.rocketmq.auth.authorization.builder"
    ".DefaultAuthorizationContextBuilder"
)
_RESOURCE = "5.3.3 org.apache.rocketmq.auth.authorization.model.Resource#isMatch"
_MANAGER = (
    "5.3.3 org.apache.rocketmq.auth.authorization.manager"
    ".AuthorizationMetadataManagerImpl"
)

SUPER_USER = Clause(
    id="SEC-POLICY-001",
    level=Level.MUST,
    text="A user with the type Super has every permission, without a policy.",
    source="5.3.3 org.apache.rocketmq.auth.authorization.chain"
    ".UserAuthorizationHandler#handle",
    since="5.3",
)
NO_MATCH = Clause(
    id="SEC-POLICY-002",
    level=Level.MUST,
    text=(
        "Without a matching entry, a request is answered with NO_PERMISSION (16). The "
        "remark is User:NAME has no permission to access RESOURCE from ADDRESS, no "
        "matched policies."
    ),
    source=f"{_HANDLER}#handle",
    since="5.3",
)
ALLOWED = Clause(
    id="SEC-POLICY-003",
    level=Level.MUST,
    text=(
        "An entry with the decision Allow admits its actions on its resource, and no "
        "other action."
    ),
    source=f"{_HANDLER}#matchPolicyEntries",
    since="5.3",
)
DENY = Clause(
    id="SEC-POLICY-004",
    level=Level.MUST,
    text=(
        "If the deciding entry has the decision Deny, the remark ends with the "
        "decision is deny."
    ),
    source=f"{_HANDLER}#handle",
    since="5.3",
)
PATTERNS = Clause(
    id="SEC-POLICY-005",
    level=Level.MUST,
    text=(
        "A resource is Topic:NAME or Group:NAME, a prefix such as Topic:NAME*, every "
        "name of a type such as Topic:*, or * for everything."
    ),
    source=_RESOURCE,
    since="5.3",
)
DEFAULT_POLICY = Clause(
    id="SEC-POLICY-006",
    level=Level.MUST,
    text=(
        "The Default policy decides only if no entry of the Custom policy matches the "
        "request."
    ),
    source=f"{_HANDLER}#matchPolicyEntries",
    since="5.3",
)
SOURCE_ADDRESSES = Clause(
    id="SEC-POLICY-007",
    level=Level.MUST,
    text=(
        "An entry with sourceIps matches requests from these addresses only, each an "
        "address or a range such as 127.0.1.0/24."
    ),
    source="5.3.3 org.apache.rocketmq.auth.authorization.model.Environment#isMatch",
    since="5.3",
)
SHORTER_PREFIX_DECIDES = Clause(
    id="SEC-POLICY-008",
    level=Level.QUIRK,
    text=(
        "Up to 5.3, the shorter of two matching prefixes decides: with Allow for "
        "Topic:A* and Deny for Topic:AB*, the topic ABC is allowed."
    ),
    source=f"{_HANDLER}#comparePolicyEntries",
    since="5.3",
    until="5.3.3",
)
LATER_ENTRY_DECIDES = Clause(
    id="SEC-POLICY-009",
    level=Level.QUIRK,
    text=(
        "Up to 5.3, if a name and a prefix match, the entry that was added later "
        "decides, not the more specific one."
    ),
    source=f"{_HANDLER}#comparePolicyEntries",
    since="5.3",
    until="5.3.3",
)
SEND = Clause(
    id="SEC-POLICY-010",
    level=Level.MUST,
    text=(
        "SEND_MESSAGE (10), SEND_MESSAGE_V2 (310) and SEND_BATCH_MESSAGE (320) need "
        "Pub on the topic, unless it is a retry topic."
    ),
    source=f"{_BUILDER}#build",
    since="5.3",
)
PULL = Clause(
    id="SEC-POLICY-011",
    level=Level.MUST,
    text=(
        "PULL_MESSAGE (11) needs Sub on the topic, unless it is a retry topic, and Sub "
        "on the group."
    ),
    source=f"{_BUILDER}#build",
    since="5.3",
)
GROUP_REQUESTS = Clause(
    id="SEC-POLICY-012",
    level=Level.MUST,
    text=(
        "HEART_BEAT (34) and LOCK_BATCH_MQ (41) need Sub on the groups and topics in "
        "their bodies. CONSUMER_SEND_MSG_BACK (36) and UNREGISTER_CLIENT (35) need Sub "
        "on the group."
    ),
    source=f"{_BUILDER}#build",
    since="5.3",
)
READS = Clause(
    id="SEC-POLICY-013",
    level=Level.MUST,
    text=(
        "QUERY_MESSAGE (12) needs Sub or Get on the topic. QUERY_CONSUMER_OFFSET (14) "
        "needs Sub or Get on topic and group, UPDATE_CONSUMER_OFFSET (15) Sub or "
        "Update."
    ),
    source=f"{_BUILDER}#build",
    since="5.3",
)
CLUSTER_REQUESTS = Clause(
    id="SEC-POLICY-014",
    level=Level.MUST,
    text=(
        "The requests that manage users and ACLs need Update on the cluster, and those "
        "that return them need Get. The resource is Cluster:NAME."
    ),
    source=f"{_BUILDER}#buildContextByAnnotation",
    since="5.3",
)
VIEW_WITHOUT_TOPIC = Clause(
    id="SEC-POLICY-015",
    level=Level.QUIRK,
    text=(
        "VIEW_MESSAGE_BY_ID (33) needs Get on the topic of its header. Without this "
        "optional field, a user without any policy reads every message."
    ),
    source=f"{_BUILDER}#buildContextByAnnotation",
    since="5.3",
)
ACL_IS_MERGED = Clause(
    id="SEC-POLICY-016",
    level=Level.MUST,
    text=(
        "AUTH_CREATE_ACL (3006) and AUTH_UPDATE_ACL (3007) add the entries of their "
        "body to the ACL of the subject. An entry for the same resource is replaced."
    ),
    source=f"{_MANAGER}#updateAcl",
    since="5.3",
)
ACL_OF_UNKNOWN = Clause(
    id="SEC-POLICY-017",
    level=Level.MUST,
    text=(
        "AUTH_CREATE_ACL (3006) for an unknown user is answered with NO_PERMISSION "
        "(16) and the remark The subject of User:NAME is not exist."
    ),
    source=f"{_MANAGER}#createAcl",
    since="5.3",
)
ACL_IS_RETURNED = Clause(
    id="SEC-POLICY-018",
    level=Level.MUST,
    text=(
        "AUTH_GET_ACL (3009) returns the ACL as JSON: subject, and policies with "
        "policyType and entries of resource, actions, sourceIps and decision."
    ),
    source="5.3.3 org.apache.rocketmq.broker.auth.converter.AclConverter#convertAcl",
    since="5.3",
)
ACL_IS_DELETED = Clause(
    id="SEC-POLICY-019",
    level=Level.MUST,
    text=(
        "AUTH_DELETE_ACL (3008) with a resource removes the entry for it, and without "
        "a resource the whole ACL of the subject."
    ),
    source=f"{_MANAGER}#deleteAcl",
    since="5.3",
)
ACL_IS_VALIDATED = Clause(
    id="SEC-POLICY-020",
    level=Level.MUST,
    text=(
        "An ACL without actions, with the action Any, with an unknown decision, or "
        "with a source that is no address is refused, and nothing of it is kept."
    ),
    source=f"{_MANAGER}#validate",
    since="5.3",
)
ACLS_ARE_LISTED = Clause(
    id="SEC-POLICY-025",
    level=Level.MUST,
    text=(
        "AUTH_LIST_ACL (3010) returns, as a JSON list of what AUTH_GET_ACL returns, "
        "the ACLs whose subject contains subjectFilter, with the entries whose "
        "resource contains resourceFilter."
    ),
    source="5.3.3 org.apache.rocketmq.auth.authorization.provider"
    ".LocalAuthorizationMetadataProvider#listAcl",
    since="5.3",
)
SEND_TO_RETRY_TOPIC = Clause(
    id="SEC-POLICY-021",
    level=Level.QUIRK,
    text=(
        "Up to 5.3, a send to a retry topic needs Sub on the producer group. The group "
        "of the retry topic has no effect."
    ),
    source=f"{_BUILDER}#build",
    since="5.3",
    until="5.3.3",
)
SEND_TO_RETRY_TOPIC_OF_GROUP = Clause(
    id="SEC-POLICY-022",
    level=Level.MUST,
    text=(
        "From 5.4 on, a send to a retry topic needs Sub on the group of the retry "
        "topic. The producer group has no effect."
    ),
    source="5.4.0 org.apache.rocketmq.auth.authorization.builder"
    ".DefaultAuthorizationContextBuilder#build",
    since="5.4",
)
LONGER_PREFIX_DECIDES = Clause(
    id="SEC-POLICY-023",
    level=Level.MUST,
    text=(
        "From 5.4 on, the longer of two matching prefixes decides: with Allow for "
        "Topic:A* and Deny for Topic:AB*, the topic ABC is denied."
    ),
    source="5.4.0 org.apache.rocketmq.auth.authorization.chain"
    ".AclAuthorizationHandler#comparePolicyEntries",
    since="5.4",
)
NAME_DECIDES = Clause(
    id="SEC-POLICY-024",
    level=Level.MUST,
    text=(
        "From 5.4 on, if a name and a prefix match, the entry with the name decides, "
        "whichever was added first."
    ),
    source="5.4.0 org.apache.rocketmq.auth.authorization.chain"
    ".AclAuthorizationHandler#comparePolicyEntries",
    since="5.4",
)
