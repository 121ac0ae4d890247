"""
Faults to plant into generated stores, and the score of an audit that finds them.

Begin with `fault`: it defines a fault and the site for planting it. `catalogue` lists
all faults.
"""
