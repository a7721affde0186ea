"""What one sequence of context costs: configs and GGUF keys to layers, layers to bytes."""
