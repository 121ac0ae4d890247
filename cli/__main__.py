"""``python -m cli`` is ``rmqc``."""

import sys

from cli.main import main

if __name__ == "__main__":
    sys.argv[0] = "rmqc"  # reports contain the command
    main(prog_name="rmqc")
