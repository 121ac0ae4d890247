"""Tests of the client's decisions and of its two machines."""
