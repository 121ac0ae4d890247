"""What a peer should hold, as plain lists and dictionaries."""
