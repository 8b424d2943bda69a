"""MariaDB and MySQL: `pymysql` is the driver, `access` connects, `stream` feeds LOAD DATA from memory, `options`
parses the options of the URL, `errors` turns their errors into text."""
