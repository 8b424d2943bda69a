// Package mattn reaches SQLite by github.com/mattn/go-sqlite3, through database/sql: its usual use. The
// driver binds the C library that it carries.
package mattn

import (
	"context"
	"database/sql/driver"
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
	"dyno/runners/go/internal/sqlite"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// connector opens databases with the driver's own options.
type connector struct{ dsn string }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }

func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// Open opens a fresh database. The driver sets synchronous=NORMAL unless it gets a value: Open passes
// SQLite's own default, and the settings asked for come after that.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	return sqlite.Open(job, sqlite.Driver{
		Module: "github.com/mattn/go-sqlite3",
		Connect: func(location string) (driver.Connector, error) {
			return connector{location + "?_synchronous=FULL"}, nil
		},
		Code: code,
	})
}

func code(err error) int {
	var refused sqlite3.Error
	if errors.As(err, &refused) {
		return int(refused.ExtendedCode)
	}
	return 0
}
