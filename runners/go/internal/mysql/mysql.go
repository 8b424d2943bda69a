// Package mysql reaches MariaDB and MySQL by github.com/go-sql-driver/mysql, through database/sql: its only
// use. One code path serves all engines that speak the protocol.
package mysql

import (
	"fmt"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// The ways of loading: LOAD DATA LOCAL from memory, prepared inserts of many rows each, and one by one.
const (
	wayLoadData = "load-data"
	wayMultirow = "multirow"
	wayInsert   = "insert"
)

// Database is the trial's database.
type Database struct {
	*session
	trial *runner.ServerTrial[*session]
	way   string
}

// Open makes the trial's database.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	way, err := runner.VariantOf(job, wayLoadData, wayMultirow, wayInsert)
	if err != nil {
		return nil, nil, err
	}
	trial, hello, err := runner.OpenServer(job, runner.Client[*session]{
		Module: "github.com/go-sql-driver/mysql", Dial: connector, Code: code, Encryption: encryption,
	})
	if err != nil {
		return nil, nil, err
	}
	return &Database{trial.First, trial, way}, hello, nil
}

// encryption says how a connection is encrypted.
func encryption(session *session) string {
	status, err := session.Rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
	if err != nil || len(status) == 0 || status[0][1] == "" {
		return "none"
	}
	return fmt.Sprint(status[0][1])
}

// Close closes the connection and does what is to be done at the end.
func (d *Database) Close() error { return d.trial.Close() }

// bytes adds what the driver hands over as it came, by the type of the column.
func bytes(value []byte, kind string, answer *runner.Answer) {
	switch kind {
	case "DECIMAL":
		runner.Number(value, answer)
	case "BLOB", "BINARY", "VARBINARY", "BIT", "GEOMETRY":
		answer.Blob(value)
	default:
		answer.TextBytes(value)
	}
}

func (d *Database) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	return explain(d.Conn.Statements(list, from, to, answer))
}

func (d *Database) Query(sql string, answer *runner.Answer) error {
	return explain(d.Conn.Query(sql, answer))
}

func (d *Database) Changes() (int, error) { return d.Changed(), nil }

// DatabaseBytes is what the server reports.
func (d *Database) DatabaseBytes() (int64, error) { return d.trial.DatabaseBytes() }
