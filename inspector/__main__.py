"""`python -m inspector` is the `inspect` command."""

from inspector.cli import enter

enter()
