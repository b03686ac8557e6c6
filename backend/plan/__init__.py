"""Where a pair's weights, caches and buffers go, and what that makes of its speed. Nothing here loads anything."""
