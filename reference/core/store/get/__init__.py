"""Reads of one queue for a pull request (Java: DefaultMessageStore#getMessage)."""
