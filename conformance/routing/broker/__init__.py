"""Registration and slave synchronisation of the target's broker at a name server."""
