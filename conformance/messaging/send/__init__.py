"""Sends: headers, checks, topics, batches, bodies and the responses to them."""
