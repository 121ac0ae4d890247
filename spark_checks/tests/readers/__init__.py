"""Data sources, scans of records, and kernels beside their fallbacks."""
