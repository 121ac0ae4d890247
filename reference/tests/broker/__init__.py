"""Tests of the broker below its network interface."""
