"""Facts on how numbers are stored: dtypes, blocks, packing, companions and lookup tables."""
