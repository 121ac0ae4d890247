"""
Functions of an audit's survey that numba compiles where it runs.

Begin with `install`: it lists each kernel beside the fallback that defines its result.
`split_properties` is the largest; `memory` has the reads that numba lacks.
"""
