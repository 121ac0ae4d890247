"""
Start and recovery of a broker's store.

Begin with `recovery`: the physical end of the commit log, and the truncation of consume
queues and index. `start` has the conditions under which a broker refuses to start.
`acceptance`, `survival` and `power_cut` state the durability of accepted messages.
"""
