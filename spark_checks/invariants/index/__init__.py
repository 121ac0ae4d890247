"""
Invariants of index files: headers, slots and items, and the keys of the log's records.
"""
