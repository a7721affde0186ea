"""Does it fit: hardware, clusters, engines, placement, and the arithmetic of memory."""
