"""
A client's credentials and TLS: the signature of its requests, and servers it trusts.

The content of a signature is in ``spec.security.signature``, and the server's side of
TLS in ``spec.security.tls``. A Java client has TLS with ``tls.enable=true`` and
``tls.test.mode.enable=false``.
"""

from __future__ import annotations

from spec.clause import Clause, Level

_HOOK = "4.6.0 org.apache.rocketmq.acl.common.AclClientRPCHook#doBeforeRequest"
_CLIENT = "4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingClient"
_CONTEXT = "4.6.0 org.apache.rocketmq.remoting.netty.TlsHelper#buildSslContext"

SIGNS = Clause(
    id="CLIENT-ACL-001",
    level=Level.MUST,
    text=(
        "A client with credentials adds AccessKey and Signature to the header fields "
        "of every request, to name servers and to brokers. The signature is that of "
        "the fields and the body as sent, by SEC-SIGN-001 and SEC-SIGN-002."
    ),
    source=_HOOK,
)
SIGNS_ONEWAY = Clause(
    id="CLIENT-ACL-002",
    level=Level.MUST,
    text=(
        "A client with credentials also signs oneway requests and those that it "
        "sends by itself: HEART_BEAT, UNREGISTER_CLIENT and pulls."
    ),
    source=f"{_CLIENT}#invokeOneway",
)
SIGNS_TOKEN = Clause(
    id="CLIENT-ACL-003",
    level=Level.MUST,
    text=(
        "A client whose credentials have a security token adds it as SecurityToken, "
        "and signs it with the other fields."
    ),
    source=_HOOK,
)
SENDS_NO_SECRET = Clause(
    id="CLIENT-ACL-004",
    level=Level.MUST,
    text="The secret key of a client's credentials is in no frame that it sends.",
    source=_HOOK,
)
ENCRYPTS = Clause(
    id="CLIENT-TLS-001",
    level=Level.MUST,
    text=(
        "A client with TLS encrypts its connections to name servers and to brokers. "
        "It sends no frame to a server without TLS, and the call fails."
    ),
    source=f"{_CLIENT}#start",
)
REFUSES_UNKNOWN = Clause(
    id="CLIENT-TLS-002",
    level=Level.MUST,
    text=(
        "With tls.client.authServer=true, a client sends no frame to a server whose "
        "certificate is self-signed, or signed by an authority that is not in "
        "tls.client.trustCertPath. The call fails."
    ),
    source=_CONTEXT,
)
REFUSES_EXPIRED = Clause(
    id="CLIENT-TLS-003",
    level=Level.MUST,
    text=(
        "With tls.client.authServer=true, a client sends no frame to a server whose "
        "certificate has expired. The call fails."
    ),
    source=_CONTEXT,
)
IGNORES_NAMES = Clause(
    id="CLIENT-TLS-004",
    level=Level.QUIRK,
    text=(
        "With tls.client.authServer=true, a client does not compare the host of a "
        "server with the names in its certificate. It admits a certificate of another "
        "host, if a trusted authority signed it."
    ),
    source=f"{_CLIENT}#start",
)
TRUSTS_ANY = Clause(
    id="CLIENT-TLS-005",
    level=Level.QUIRK,
    text=(
        "With tls.client.authServer=false, the default, a client admits any "
        "certificate of a server: self-signed, expired, or of an unknown authority."
    ),
    source=_CONTEXT,
)
TLS_TEST_MODE = Clause(
    id="CLIENT-TLS-006",
    level=Level.QUIRK,
    text=(
        "With tls.test.mode.enable=true, the default, a Java client admits any "
        "certificate of a server, also with tls.client.authServer=true."
    ),
    source=_CONTEXT,
)
SHOWS_CERTIFICATE = Clause(
    id="CLIENT-TLS-007",
    level=Level.MUST,
    text=(
        "A client with tls.client.certPath and tls.client.keyPath presents this "
        "certificate to a server that requires one."
    ),
    source=_CONTEXT,
)
