"""Files, folders, threads, devices and optional libraries of the machine."""
