"""Graph algorithms in the language of linear algebra: one short file each, reads as its paper."""
