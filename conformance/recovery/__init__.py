"""
Recovery: the state of a broker's store and queues after a crash or damage.

Begin with ``damaged_files``, a store to be damaged, and ``power_cuts``.
"""
