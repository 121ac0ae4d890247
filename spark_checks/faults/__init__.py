"""
Faults to plant into generated stores, and the score of an audit that finds them.

Begin with faults.toml: it lists all faults. `field_faults` plants those with one wrong
field, the modules in_… have a function for each other. `site` is the store that they
are planted into, `catalogue` the list.
"""
