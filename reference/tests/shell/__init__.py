"""The shell: disk, sockets, TLS and the effects that it performs."""
