"""Tests of the name server that no peer can make from outside."""
