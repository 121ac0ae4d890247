"""
Bringing written bytes to disk: when to flush, whom to answer, and the checkpoint.

Begin with ``flush_policy``. ``group_commit`` holds the puts that wait for a flush or
for a slave, and ``checkpoint`` records how far a crash can trust the files.
"""
