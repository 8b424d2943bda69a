"""MariaDB and MySQL: `pymysql` is the driver, `scratch` makes and removes the trial's own database,
`settings` sets system variables and reads them back, `stream` feeds LOAD DATA from memory, `options` parses
the options of the URL, `version` distinguishes the two engines, `errors` turns their errors into text."""
