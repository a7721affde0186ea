"""One claim of a table of sizes: its amount, rule, quantity and verdict."""
