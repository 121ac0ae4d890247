"""SQL92 expressions over a message's properties, as consumers may subscribe with."""
