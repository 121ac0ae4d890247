"""Master and slaves: the commit log is copied, byte by byte."""
