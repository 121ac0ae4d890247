"""Program ``run_module.py SOURCES MODULE WORDS...``: run a module as ``-m`` does."""

from __future__ import annotations

import runpy
import sys

if __name__ == "__main__":
    _, sources, module, *words = sys.argv
    sys.path.insert(0, sources)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
