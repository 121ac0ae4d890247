"""Clients that applications can use: the core's decisions over asyncio's sockets."""
