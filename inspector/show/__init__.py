"""Words, tables, pages and pictures of a report, for the renderers."""
