"""MariaDB and MySQL: `pymysql` is the driver, `scratch` makes and removes the trial's own database,
`settings` sets system variables and reads them back, `stream` feeds LOAD DATA from memory, `options` reads
those of the URL, `version` tells the two engines apart, `errors` what they say."""
