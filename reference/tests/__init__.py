"""Tests of the reference below its network interface."""
