"""The public functions: check what was asked, choose a plan and an engine, run, wrap."""
