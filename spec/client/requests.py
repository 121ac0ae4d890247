"""
What brokers ask of clients: mostly oneway, over the connection that the client made.
"""

from __future__ import annotations

from spec.clause import Clause, Level

UNKNOWN = Clause(
    id="CLIENT-REQUEST-001",
    level=Level.MUST,
    text="A client answers a request with a code that it does not know with"
    " REQUEST_CODE_NOT_SUPPORTED (3), and keeps the connection.",
    source="4.6.0 org.apache.rocketmq.remoting.netty.NettyRemotingAbstract"
    "#processRequestCommand",
)
