"""
Requests of a client to name servers and brokers, without sockets.

Begin with `rpc_client`: requests wait for their responses by opaque, and effects go to
the shell. `errors` has the reasons of failures, `tasks` runs coroutines.
"""
