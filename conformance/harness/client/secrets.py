"""
Secrets of this run, which must not appear in transcripts, captures, reports or logs.

A request that changes accounts carries a secret key as a header field, and a response
may return all of them. Asterisks of the same length replace them, so that frames stay
readable.
"""

from __future__ import annotations


class Secrets:
    """Texts to hide in this process."""

    def __init__(self) -> None:
        self._texts: set[str] = set()

    def add(self, text: str) -> str:
        """Hide *text* from now on, and return it."""
        self._texts.add(text)
        return text

    def hide_in(self, text: str) -> str:
        """Return *text* with asterisks in place of every secret."""
        for secret in self._longest_first():
            text = text.replace(secret, "*" * len(secret))
        return text

    def hide_in_bytes(self, data: bytes) -> bytes:
        """Return *data* with as many asterisks in place of every secret's bytes."""
        for secret in self._longest_first():
            encoded = secret.encode()
            data = data.replace(encoded, b"*" * len(encoded))
        return data

    def _longest_first(self) -> list[str]:
        return sorted(self._texts, key=len, reverse=True)


SECRETS = Secrets()
"""Those of this process: each worker reads them from the files of its target."""
