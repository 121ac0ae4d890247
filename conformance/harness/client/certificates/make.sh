#!/bin/sh
# Write the certificates of the suite: sh make.sh, in this directory. They protect nothing.
set -eu
days=36500
here=DNS:localhost,IP:127.0.0.1

authority() {  # NAME: a certificate that signs itself
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days $days \
        -subj "/CN=$1 of the suite" -keyout "$1.key" -out "$1.pem"
}

extensions() {  # HOSTS: those of a certificate of version 3; rustls refuses version 1
    printf '%s\n' "basicConstraints=critical,CA:FALSE" "keyUsage=critical,digitalSignature" \
        "extendedKeyUsage=serverAuth,clientAuth" "subjectAltName=$1" > extensions.cnf
}

signed() {  # NAME AUTHORITY DAYS [HOSTS]
    extensions "${4:-$here}"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -days "$3" -out "$1.pem" \
        -extfile extensions.cnf
    rm "$1.csr"
}

renewed() {  # NAME OF AUTHORITY DAYS: another certificate of an older key
    extensions "$here"
    openssl req -new -key "$2.key" -subj "/CN=$1" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA "$3.pem" -CAkey "$3.key" -days "$4" -out "$1.pem" \
        -extfile extensions.cnf
    rm "$1.csr"
}

authority authority
authority stranger
authority self-signed
signed server authority $days
signed successor authority $days
signed elsewhere authority $days DNS:elsewhere.example
renewed renewed server authority $days
signed client authority $days
signed expired-client authority -1
signed strange-client stranger $days
rm authority.key stranger.key extensions.cnf ./*.srl 2>/dev/null || true
