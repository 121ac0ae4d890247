"""
Wrong values of every field of a store, and the invariants that detect them.

Begin with `field_table`. `field_faults` plants the values into small stores.
"""
