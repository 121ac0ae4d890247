"""
Kernels: fast twins of what an audit does most often, compiled by numba where it runs.
"""
