"""``python -m conformance.meta.language``: see `check`."""

from conformance.meta.language.check import main

main()
