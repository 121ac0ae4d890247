"""
TLS of name servers and brokers: one port for both kinds of connection.

The settings are Java's properties ``tls.*``, or lines of the file ``tls.config.file``
(Java: TlsSystemConfig). The first byte of a connection decides: 0x16 begins a
handshake of TLS. A frame does not begin with it: its size would be 352 MiB.
"""

from __future__ import annotations

from spec.clause import Clause, Level

HANDSHAKE = 0x16
"""First byte of a TLS connection (Java: HANDSHAKE_MAGIC_CODE)."""
MODE, DISABLED, PERMISSIVE, ENFORCING = (
    *("tls.server.mode", "disabled", "permissive", "enforcing"),
)
CLIENT_USES_TLS = "tls.enable"
TEST_MODE = "tls.test.mode.enable"
CERTIFICATE, KEY = "tls.server.certPath", "tls.server.keyPath"
CLIENT_AUTH = "tls.server.need.client.auth"
"""none, optional or require: whether a server requests a client's certificate."""
VERIFIES_CLIENT, TRUSTED = "tls.server.authClient", "tls.server.trustCertPath"
CONFIG_FILE = "tls.config.file"

_SERVER = "4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingServer"
_HELPER = "4.6.0 org.apache.rocketmq.remoting.netty.TlsHelper"
_HANDSHAKE = f"{_SERVER}$HandshakeHandler#channelRead0"
_BROKER = "4.6.0 org.apache.rocketmq.broker.BrokerController#initialize"

IS_DISABLED = Clause(
    id="TLS-MODE-001",
    level=Level.MUST,
    text=(
        "With tls.server.mode=disabled, a server closes a connection whose first byte "
        "is 0x16 (HANDSHAKE_MAGIC_CODE), and serves other connections."
    ),
    source=_HANDSHAKE,
)
IS_PERMISSIVE = Clause(
    id="TLS-MODE-002",
    level=Level.MUST,
    text=(
        "With tls.server.mode=permissive, a server serves connections with and without "
        "TLS at the same port."
    ),
    source=_HANDSHAKE,
)
IS_ENFORCING = Clause(
    id="TLS-MODE-003",
    level=Level.MUST,
    text=(
        "With tls.server.mode=enforcing, a server closes a connection whose first byte "
        "is not 0x16 (HANDSHAKE_MAGIC_CODE), without a response, and serves TLS."
    ),
    source=_HANDSHAKE,
)
MODE_BY_DEFAULT = Clause(
    id="TLS-MODE-004",
    level=Level.QUIRK,
    text=(
        "A tls.server.mode other than disabled, permissive and enforcing is "
        "permissive, and so is one with a capital letter."
    ),
    source="4.6.0 org.apache.rocketmq.remoting.common.TlsMode#parse",
)
BROKER_AS_CLIENT = Clause(
    id="TLS-MODE-005",
    level=Level.MUST,
    text="With tls.enable=true, a broker registers with its name servers over TLS.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingClient#start",
)
FRAMES = Clause(
    id="TLS-FRAME-001",
    level=Level.MUST,
    text=(
        "Frames over TLS are those of a connection without TLS. A frame may be split "
        "over several TLS records, and one record may contain several frames."
    ),
    source=f"{_SERVER}#start",
)
PRESENTED = Clause(
    id="TLS-CERT-001",
    level=Level.MUST,
    text=(
        "With tls.test.mode.enable=false, a server presents the certificate in the "
        "file tls.server.certPath."
    ),
    source=f"{_HELPER}#buildSslContext",
)
SELF_SIGNED = Clause(
    id="TLS-CERT-002",
    level=Level.SHOULD,
    text=(
        "With tls.test.mode.enable=true, the default, a server presents a self-signed "
        "certificate that it makes at its start, and ignores tls.server.certPath."
    ),
    source=f"{_HELPER}#buildSslContext",
    untestable=(
        "needs Java 8: on Java 17 the release fails to make the certificate, and "
        "closes TLS connections"
    ),
)
UNREADABLE = Clause(
    id="TLS-CERT-003",
    level=Level.QUIRK,
    text=(
        "A server whose certificate file does not exist starts. It closes TLS "
        "connections, and serves others unless its mode is enforcing."
    ),
    source=f"{_SERVER}#loadSslContext",
)
FILE_OF_SETTINGS = Clause(
    id="TLS-CERT-004",
    level=Level.SHOULD,
    text=(
        "Lines of the file tls.config.file replace the properties of the process, "
        "except tls.server.mode and tls.enable."
    ),
    source=f"{_HELPER}#extractTlsConfigFromFile",
)
REQUIRED = Clause(
    id="TLS-CLIENT-001",
    level=Level.MUST,
    text=(
        "With tls.server.need.client.auth=require, a TLS connection without a client "
        "certificate is closed before its first request is executed."
    ),
    source=f"{_HELPER}#parseClientAuthMode",
)
VERIFIED = Clause(
    id="TLS-CLIENT-002",
    level=Level.MUST,
    text=(
        "With tls.server.authClient=true and a requested certificate, a client "
        "certificate is admitted if an authority in tls.server.trustCertPath signed it."
        " A certificate of another authority, or an expired one, is refused."
    ),
    source=f"{_HELPER}#buildSslContext",
)
NOT_VERIFIED = Clause(
    id="TLS-CLIENT-003",
    level=Level.QUIRK,
    text=(
        "With tls.server.authClient=false, the default, any client certificate is "
        "admitted, also of an unknown authority or expired."
    ),
    source=f"{_HELPER}#buildSslContext",
)
OPTIONAL = Clause(
    id="TLS-CLIENT-004",
    level=Level.MUST,
    text=(
        "With tls.server.need.client.auth=optional, a client without a certificate is "
        "admitted, and the certificate of a client with one is checked."
    ),
    source=f"{_HELPER}#parseClientAuthMode",
)
NOT_REQUESTED = Clause(
    id="TLS-CLIENT-005",
    level=Level.MUST,
    text=(
        "With tls.server.need.client.auth=none, the default, a server requests no "
        "client certificate. A connection with or without one is served."
    ),
    source=f"{_HELPER}#parseClientAuthMode",
)
RELOADED = Clause(
    id="TLS-RELOAD-001",
    level=Level.MUST,
    text=(
        "After the files of certificate and key have both changed, new connections "
        "are served with the new certificate, without a restart."
    ),
    source=_BROKER,
)
NOT_RELOADED = Clause(
    id="TLS-RELOAD-002",
    level=Level.QUIRK,
    text=(
        "While only one of the files of certificate and key has changed, new "
        "connections are served with the old certificate."
    ),
    source=_BROKER,
)
CONNECTIONS_STAY = Clause(
    id="TLS-RELOAD-003",
    level=Level.MUST,
    text="Connections that were open before a reload of the certificate stay open.",
    source=f"{_SERVER}#loadSslContext",
)
