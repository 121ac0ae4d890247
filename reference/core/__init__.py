"""The decisions of a peer: bytes and events in, effects out; no sockets, no clock."""
