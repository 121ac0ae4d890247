"""
Numpy columns that only the audit needs; see `columns` for the shared reader.

Begin with `record_scan`: it finds records, also in damaged files. `record_columns`
decodes the records of a window.
"""
