"""``python -m cli`` is ``rmqc``."""

import sys

from rocketmq_conformance.__main__ import main

if __name__ == "__main__":
    sys.argv[0] = "rmqc"  # reports contain the command
    main()
