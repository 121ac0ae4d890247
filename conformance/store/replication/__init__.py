"""Replication: what a master sends, what a slave answers and stores."""
