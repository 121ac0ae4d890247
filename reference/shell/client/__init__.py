"""
Clients for applications: the core's clients over asyncio's sockets.

Begin with `producer` or `consumer`; `client_host` performs the effects of every client.
"""
