"""SQLite: `stdlib` and `apsw` are the drivers, `database` is shared by both, `settings` says where the data are."""
