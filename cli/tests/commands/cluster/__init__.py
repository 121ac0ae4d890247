"""Tests of the commands for clients, admin requests and the reference broker."""
