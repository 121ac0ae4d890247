"""
Spark tables of a store, and the column expressions that several checks share.

Begin with `store_tables`: it opens the commit log, the consume queues and the index.
"""
