"""SQLite: `stdlib` and `apsw` are the drivers, `database` is what they have in common, `settings` its
PRAGMAs."""
