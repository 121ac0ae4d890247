"""
Records of commit-log files, also of damaged ones.

Begin with `record_scan`, which finds them. `record_columns` decodes those of a window.
"""
