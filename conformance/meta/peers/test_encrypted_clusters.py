"""A running cluster with TLS: a wrong statement about it is an error, not a failure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.harness.client.access import TLS, TLS_CERT, TLS_KEY
from conformance.harness.client.certificates import (
    CLIENT,
    FOLDER,
    STRANGER,
    server_settings,
)
from conformance.harness.targets.health import BROKER, tls_problem
from conformance.harness.targets.target import Target, TargetError, parse_target
from spec.security import tls

TRUSTS_ANY = f"?{TLS}=any"
PRESENTS = f"{TRUSTS_ANY}&{TLS_CERT}={{}}&{TLS_KEY}={{}}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Target]:
    """Yield a cluster that takes clients with a certificate only, an embedded one."""
    settings = {
        **server_settings(tls.ENFORCING, client_auth="require", verifies=True),
        tls.CLIENT_USES_TLS: "true",
        "tls.client.certPath": str(CLIENT.chain),
        "tls.client.keyPath": str(CLIENT.key),
    }
    query = PRESENTS.format(CLIENT.chain, CLIENT.key)
    with parse_target(f"embedded:{query}", conf=settings) as started:
        yield started


def test_a_certificate_is_presented(cluster: Target) -> None:
    query = PRESENTS.format(CLIENT.chain, CLIENT.key)
    with parse_target(f"{cluster.namesrv}{query}") as target:
        assert target.broker == cluster.broker


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "takes connections with TLS only; .tls=any"),
        (TRUSTS_ANY, "no TLS with .*: "),
        (PRESENTS.format(STRANGER.chain, STRANGER.key), "no TLS with .*: "),
        (f"?{TLS}={FOLDER / 'stranger.pem'}", "CERTIFICATE_VERIFY_FAILED"),
    ],
    ids=["none", "no certificate", "another certificate", "another authority"],
)
def test_a_cluster_with_tls_is_stated_to_be_one(
    cluster: Target, query: str, reason: str
) -> None:
    target = parse_target(f"{cluster.namesrv}{query}")
    with pytest.raises(TargetError, match=reason):
        target.start()


def test_a_cluster_without_tls_is_stated_to_be_one() -> None:
    with parse_target("embedded:") as started:
        target = parse_target(f"{started.namesrv}{TRUSTS_ANY}")
        with pytest.raises(TargetError, match=r"no TLS with the name server at .*: "):
            target.start()


def test_a_server_without_a_request_of_its_role_may_encrypt_or_not() -> None:
    conf = server_settings(tls.PERMISSIVE)
    with parse_target("embedded:", conf=conf) as started:
        assert started.namesrv is not None
        assert not tls_problem(BROKER, started.namesrv, None)
