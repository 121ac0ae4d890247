"""
Functions of audits that numba compiles where they run.

Begin with `install`: it lists each kernel beside the fallback that defines its result.
`split_properties` is the largest; `memory` has the reads that numba lacks.
"""
