"""Recorded checkpoints: what a report needs, in one deterministic file."""
