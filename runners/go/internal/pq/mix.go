package pq

import (
	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/postgres"
	"dyno/runners/go/internal/runner"
)

// engine says how clients work. Their transactions are prepared statements too, as pgbench has them.
var engine = dbsql.Engine{Parameter: parameter, BeginWrite: "BEGIN", Explain: explain, MayPass: postgres.MayPass, Codes: postgres.Codes}

// Session is the session of a client.
func (d *Database) Session(client int) (runner.Session, error) {
	if client == 0 {
		return dbsql.NewSession(d.conn, engine, false), nil
	}
	return d.Connect()
}

// Connect is the session of a client that comes for a while.
func (d *Database) Connect() (runner.Session, error) {
	another, err := d.scratch.Another()
	if err != nil {
		return nil, err
	}
	return dbsql.NewSession(another.conn, engine, true), nil
}
