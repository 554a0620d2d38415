"""Every public question on two graphs: one core, all cores, a GPU, and the best peer that answers it."""
