"""`python -m inspector` is the `inspect` command."""

import sys

from inspector.cli import main

sys.exit(main())
