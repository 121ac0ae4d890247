"""
The name server: topic routes, live brokers and the key-value configuration.

It is three tables and nineteen handlers. Begin with `server`, which maps each request
code to its handler and shows the tables the handler works on:

- `route_tables`: topic queues, brokers, clusters, live brokers (Java: RouteInfoManager)
- `kv_config`: key-value pairs by namespace (Java: KVConfigManager)
- `config`: the server's own settings (Java: NamesrvConfig, NettyServerConfig)

A handler takes its tables and the request, and returns a response. `server` also drives
what no request triggers: expiry of brokers and idle connections.
"""
