"""PostgreSQL: `psycopg` is the driver, `access` connects, `errors` turns errors into text."""
