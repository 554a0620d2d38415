"""Records of what to compute and how: jobs, plans, rules, traces."""
