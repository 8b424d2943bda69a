// Command dyno-runner-go is the runner of the drivers in Go that can be linked into one program. Those
// that carry a SQLite in C of their own have a separate program each.
package main

import (
	"dyno/runners/go/internal/modernc"
	"dyno/runners/go/internal/mysql"
	"dyno/runners/go/internal/null"
	"dyno/runners/go/internal/pebble"
	"dyno/runners/go/internal/pgx"
	"dyno/runners/go/internal/pq"
	"dyno/runners/go/internal/runner"
)

func main() {
	runner.Main(map[string]runner.Open{
		"null/go":             null.Open,
		"sqlite/modernc":      modernc.Open,
		"postgres/pgx":        pgx.Open,
		"postgres/pq":         pq.Open,
		"mysql/go-sql-driver": mysql.Open,
		"pebble/go":           pebble.Open,
	})
}
