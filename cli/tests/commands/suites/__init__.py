"""Tests of the commands for targets and the specification."""
