"""
Generator of stores of any size, repeatable by seed.

Begin with `store`. A `plan` consists of parts, a part of `rounds`.
"""
