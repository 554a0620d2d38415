"""What to compute and how, as records: jobs, plans, rules, traces. No arrays in them."""
