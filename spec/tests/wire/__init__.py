"""Commands, headers, bodies and the texts in messages."""
