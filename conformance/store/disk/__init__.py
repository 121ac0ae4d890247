"""Flushes, deletion of old files, and disks without space."""
