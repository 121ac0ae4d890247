"""POP consumption: receipts, invisible time, order, revival, assignments."""
