"""What is kept on disk between runs: headers by content, listings and reports by commit."""
