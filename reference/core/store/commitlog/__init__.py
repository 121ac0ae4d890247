"""
The commit log: every message of every topic as one sequence of records.

Begin with ``commit_log``. ``record_encoder`` turns messages into records, ``batch``
splits the body of a batch, and ``record_reader`` reads records back for dispatch.
"""
