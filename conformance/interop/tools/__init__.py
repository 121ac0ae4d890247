"""
External tools of the interop tests: tshark, Kaitai, Chromium, the GitHub action.

Begin with ``installed.py``.
"""
