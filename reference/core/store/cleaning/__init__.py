"""Deletion of old commit-log, consume-queue and index files.

Java: CleanCommitLogService. Begin with ``clean.py``. ``retention.py`` decides by plain
values which files expire.
"""
