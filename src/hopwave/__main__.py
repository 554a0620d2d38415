"""`python -m hopwave` is the command `hopwave`."""

import sys

from _hopwave_command import main

if __name__ == "__main__":
    sys.exit(main())
