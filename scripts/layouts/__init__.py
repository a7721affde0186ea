"""Layouts of published checkpoints, one file per family, and the fixtures made of them."""
