"""PostgreSQL: `psycopg` is the driver, `scratch` makes and removes the trial's own database, `settings` sets
parameters and reads them back, `units` knows that 6GB are 6144MB, `errors` turns errors into text."""
