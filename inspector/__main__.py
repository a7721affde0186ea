"""`python -m inspector` is the `inspect` command."""

from inspector.process import enter

enter()
