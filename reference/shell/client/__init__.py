"""
Clients for applications: the core's clients over asyncio's sockets.

Begin with `producer` or `consumers`. `client_host` performs the effects of all clients.
"""
