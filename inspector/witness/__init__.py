"""What configs declare about quantisation, the patterns they are written in, and where tensors say otherwise."""
