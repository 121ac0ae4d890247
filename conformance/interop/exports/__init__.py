"""Exports of the specification, read by Wireshark, Kaitai, Go and Rust."""
