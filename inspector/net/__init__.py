"""HTTP for checkpoints: exact ranges, retries under one deadline, the token at one host, errors in words."""
