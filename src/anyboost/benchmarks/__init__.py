"""How fast, in one run, on this machine."""
