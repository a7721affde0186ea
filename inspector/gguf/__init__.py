"""What is particular to GGUF: types, the stream of a header, keys, names of quants, menus."""
