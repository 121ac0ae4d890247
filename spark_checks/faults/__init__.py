"""Faults that are planted into generated stores, and how an audit is scored by them."""
