// Package modernc reaches SQLite by modernc.org/sqlite, through database/sql: the C library translated to
// Go, so that a program needs no C compiler.
package modernc

import (
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
	"dyno/runners/go/internal/sqlite"

	driver "modernc.org/sqlite"
)

// bulkRows is how many rows one statement of a bulk load inserts.
const bulkRows = 50

// Open opens a fresh database. The driver sets nothing by itself.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	if err := runner.NoVariants(job); err != nil {
		return nil, nil, err
	}
	settings, err := sqlite.Prepare(job)
	if err != nil {
		return nil, nil, err
	}
	connector, err := driver.NewConnector(settings.Location(job.Directory))
	if err != nil {
		return nil, nil, err
	}
	return sqlite.Open(settings, connector, "modernc.org/sqlite", bulkRows)
}
