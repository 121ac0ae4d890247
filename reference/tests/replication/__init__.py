"""Tests of master and slaves without sockets."""
