"""`python -m tfsandbox program.py`: the command line, as `tfsandbox` is."""

import sys

from tfsandbox.cli import main

if __name__ == "__main__":
    sys.exit(main())
