"""Replication: what a master sends, what a slave responds and stores."""
