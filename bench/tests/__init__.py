"""The measurements tried on a little log."""
