"""Models: what a peer should know, as dictionaries and lists."""
