"""
TLS of name servers and brokers: modes, certificates of both sides, and their reload.

Each test starts brokers with properties of its own. The certificates are in
``conformance/harness/client/certificates``.
"""
