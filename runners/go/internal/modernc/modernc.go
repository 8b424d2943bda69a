// Package modernc reaches SQLite by modernc.org/sqlite, through database/sql: the C library translated to
// Go, so that a program needs no C compiler.
package modernc

import (
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
	"dyno/runners/go/internal/sqlite"

	driver "modernc.org/sqlite"
)

// Open opens a fresh database. The driver changes no setting unprompted.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	return sqlite.Open(job, sqlite.Driver{Module: "modernc.org/sqlite", Connect: driver.NewConnector, Code: code})
}

func code(err error) int {
	var refused *driver.Error
	if errors.As(err, &refused) {
		return refused.Code()
	}
	return 0
}
