"""How a peer of 4.6.0 behaves, as plainly as possible."""
