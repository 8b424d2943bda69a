"""DuckDB: `python` is its client, `arrow` shows it the mapped rows, `settings` sets and reads back its
options."""
