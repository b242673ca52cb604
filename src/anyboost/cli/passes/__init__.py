"""One pass over rows: learn from examples, combine forecasts, and print how it goes."""
