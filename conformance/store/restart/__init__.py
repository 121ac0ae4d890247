"""Config files, and what a broker still has after a restart."""
