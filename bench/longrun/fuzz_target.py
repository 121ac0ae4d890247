"""
The process that is fuzzed: every decoder behind one function of bytes.

``bench.longrun.fuzz`` starts it with the names of the decoders and libFuzzer's own
options. Of
an input the first byte chooses the decoder, the others are what it reads.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["spec", "construct"]):
    from bench.longrun.fuzz import attempt
    from spec.decoders import all_decoders


def main() -> None:
    """Fuzz until libFuzzer ends the process."""
    decoders = [all_decoders()[name] for name in sys.argv[1].split("\n")]

    def one_input(data: bytes) -> None:
        if data:
            attempt(decoders[data[0] % len(decoders)], data[1:])

    atheris.Setup([sys.argv[0], *sys.argv[2:]], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
