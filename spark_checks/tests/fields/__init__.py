"""
Wrong values of every field of a store, and the invariants that detect them.

Begin with `field_table`. `field_faults` makes the values for small stores, and
`planted_fields` writes them.
"""
