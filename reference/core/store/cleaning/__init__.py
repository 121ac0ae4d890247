"""
Deletion of old commit-log, consume-queue and index files.

Begin with ``clean_service``. ``retention`` selects the expired files, as functions of
plain values.
"""
