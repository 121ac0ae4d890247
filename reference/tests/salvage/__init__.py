"""Tests of the salvage of damaged logs."""
