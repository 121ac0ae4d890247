#!/bin/sh
# The tests of the three modules; needs a Docker engine, Maven, Go and Node.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r java go node "$scratch"
cd "$scratch"
(cd java && mvn -q -B test)
(cd go && go test -count=1 ./...)
(cd node && npm install --silent --no-package-lock && npm test)
