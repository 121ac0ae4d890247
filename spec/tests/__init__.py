"""Tests of the specification's own declarations: no peer is asked anything here."""
