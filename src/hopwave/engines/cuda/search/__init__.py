"""One search on the GPU: level by level as the papers have it, or in one launch."""
