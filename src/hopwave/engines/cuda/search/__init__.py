"""One search on the GPU: level by level as in the papers, or in one launch."""
