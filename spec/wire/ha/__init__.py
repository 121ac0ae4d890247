"""
Replication of the commit log from master to slave (Java: HAService, HAConnection).

Begin with `replication`, the layout of both directions of the connection. The clauses
are in `replication_rules`. `slave` describes a broker with the role SLAVE.
"""
