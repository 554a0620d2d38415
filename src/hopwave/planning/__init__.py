"""Records that describe computations: jobs, plans, rules, traces."""
