"""
Invariants of the timer's files: log, wheel and checkpoint (since 5.0).

The timer log has one unit for each message with a delivery time. Units of one due time
are chained, and the wheel's slot of that time names the ends of the chain. The files
are small, so the driver reads them. Begin with `check_timer`.
"""
