"""MariaDB and MySQL: `pymysql` and `mysqlclient` are the drivers, `server` has what they share, `access` connects,
`stream` feeds LOAD DATA from memory, `options` parses the options of the URL, `errors` turns their errors into
text."""
