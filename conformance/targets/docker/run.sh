#!/bin/sh
# The suites on Apache RocketMQ in containers; what `tox -e docker` runs.
#
# Where no Docker engine answers, one is installed (Debian, as root) and started by hand
# for this run, and ended with it. Where that cannot be, this says so and succeeds; with
# RMQC_DOCKER=required it fails. Arguments go to pytest. With RMQC_DOCKER_WHOLE=1 all
# suites run as well, and each clause must do what it did on a Java machine.
set -eu
release=${RMQC_DOCKER_RELEASE:-4.6.0}

answers() {
    python -c 'from conformance.harness.docker.containers import connect; connect().close()'
}

skip() {
    echo "=================================================================" >&2
    echo "SKIPPED: the docker target was NOT tested: $1" >&2
    echo "=================================================================" >&2
    [ "${RMQC_DOCKER:-}" = required ] && exit 1
    exit 0
}

# The engine ends before its folder is removed. What it set up for its containers in the
# machine's network it would leave behind.
end() {
    kill $engine || true
    wait $engine || true
    umount "$scratch/exec/netns/default" 2>/dev/null || true
    [ -n "$had_bridge" ] || ip link delete docker0 2>/dev/null || true
    [ ! -s "$scratch/rules" ] || iptables-restore <"$scratch/rules" || true
    echo "$forwards" >/proc/sys/net/ipv4/ip_forward || true
    rm -rf "$scratch"
}

if ! answers 2>/dev/null; then
    [ "$(id -u)" = 0 ] || skip "no Docker engine answers, and only root can start one"
    if ! command -v dockerd >/dev/null; then
        command -v apt-get >/dev/null || skip "no Docker engine, and no apt-get"
        (apt-get update -qq && apt-get install -y -qq --no-install-recommends \
            docker.io iptables debootstrap) >&2 || skip "no Docker engine to be had"
    fi
    scratch=$(mktemp -d)
    iptables-save >"$scratch/rules" 2>/dev/null || true
    forwards=$(cat /proc/sys/net/ipv4/ip_forward)
    had_bridge=$(ls -d /sys/class/net/docker0 2>/dev/null || true)
    export DOCKER_HOST="unix://$scratch/docker.sock"
    dockerd --data-root "$scratch/data" --exec-root "$scratch/exec" \
        --pidfile "$scratch/dockerd.pid" -H "$DOCKER_HOST" \
        >"$scratch/dockerd.log" 2>&1 &
    engine=$!
    trap end EXIT
    trap 'exit 130' INT TERM
    tries=0
    until answers 2>/dev/null; do
        tries=$((tries + 1))
        if [ $tries -gt 60 ] || ! kill -0 $engine 2>/dev/null; then
            tail -5 "$scratch/dockerd.log" >&2
            skip "the Docker engine does not start here"
        fi
        sleep 0.5
    done
fi
python -m conformance.targets.docker.image "$release"
pytest -q -rs conformance/interop/installed/test_docker.py "$@"
if [ -n "${RMQC_DOCKER_WHOLE:-}" ]; then
    rmqc test --target "docker:rmqc/rocketmq:$release" --against-evidence
fi
