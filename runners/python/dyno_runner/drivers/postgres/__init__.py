"""PostgreSQL: `psycopg` and `asyncpg` are the drivers, `access` has what both need to connect, `errors` turns errors
into text and says which may pass, `written` lists types whose values come as the server writes them."""
