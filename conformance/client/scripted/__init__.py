"""Scripted name servers and brokers, which play the peers of a client under test."""
