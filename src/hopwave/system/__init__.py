"""Files, folders, threads, devices and optional libraries of the machine that hopwave runs on."""
