"""
Faults to plant into generated stores, and the score of an audit that finds them.

Begin with `fault`: it defines a fault. faults.toml lists those with one wrong field,
which `field_faults` plants. `site` is the store that they are planted into. `catalogue`
lists all faults.
"""
