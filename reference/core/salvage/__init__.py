"""
Salvage: every record of a damaged commit log that can still be read.

Begin with `readable_records`, which goes on behind damage. `log_plan` arranges the new
files so that a broker reads past the damaged ranges. `queue_offsets` closes the gaps of
the queues.
"""
