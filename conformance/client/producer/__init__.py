"""Tests of producers: sends, retries, transactions, and request-reply."""
