"""What several commands do: show progress, and refuse files before the work."""
