"""The command ``rmqc``, also as ``python -m rocketmq_conformance``."""

from __future__ import annotations

import importlib
import io
import os
import sys

from rocketmq_conformance.paths import add_to_path

INTERRUPTED = 130


def main() -> None:
    """Run the command with the project's own packages first on the path."""
    _open_standard_streams()
    try:
        add_to_path()
        importlib.import_module("cli.main").main(prog_name="rmqc")
    except KeyboardInterrupt:  # before the command could handle it
        sys.stderr.write("Error: interrupted\n")
        sys.exit(INTERRUPTED)


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device, as if they were redirected.

    The first file to be opened would get the number of the stream otherwise.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = os.fdopen(os.open(os.devnull, os.O_RDWR), mode)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    # With PYTHONUNBUFFERED, Python drops the rest of a text that a full disk cuts.
    out = sys.stdout
    if isinstance(out.buffer, io.RawIOBase):
        sys.stdout = os.fdopen(
            out.fileno(), "w", 1, out.encoding, out.errors, closefd=False
        )


if __name__ == "__main__":
    main()
