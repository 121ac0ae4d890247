"""
The index: commit-log offsets by message key.

Begin with ``index_service``, which fills and searches the files of ``index_file``.
"""
