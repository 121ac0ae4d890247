"""
Faults to plant into generated stores, and the score of an audit that finds them.

Begin with `fault_list`: it defines a fault. `fault` has the site for planting it.
`catalogue` lists all faults.
"""
