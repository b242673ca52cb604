"""What a fitted sum answers and why: importances and Shapley values."""
