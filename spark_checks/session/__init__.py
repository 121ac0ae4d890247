"""
Spark sessions for audits.

Begin with `session`. `workers` is the daemon of Python workers. `worker_archive`
packs the code for a cluster.
"""
