"""Data sources and scans of records, with kernels and without."""
