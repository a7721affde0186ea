"""Tell the truth about a model checkpoint before anyone downloads it."""

__version__ = "0.1.0"
