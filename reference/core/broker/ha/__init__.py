"""
High availability: replication of the commit log and of the tables.

Begin with `connection_state`, then `slave_connections` for a master and
`master_connection` for a slave. `ha_service` builds them.
"""
