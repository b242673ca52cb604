"""One module a figure or table of a paper: run it, get the figure, a JSON and a Markdown table."""
