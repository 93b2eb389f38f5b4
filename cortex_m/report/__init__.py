"""The report of a model: what it costs on each core, what it loses, and what fell back."""
