"""Columns beside single records, and kernels beside their fallbacks."""
