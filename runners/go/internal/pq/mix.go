package pq

import (
	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/postgres"
	"dyno/runners/go/internal/runner"
)

// Session is the session of a client. Its transactions are prepared statements too, as pgbench has them.
func (d *Database) Session(client int) (runner.Session, error) {
	conn := d.conn
	if client > 0 {
		another, err := d.scratch.Another()
		if err != nil {
			return nil, err
		}
		conn = another.conn
	}
	engine := dbsql.Engine{Parameter: parameter, BeginWrite: "BEGIN", Explain: explain, MayPass: postgres.MayPass}
	return dbsql.NewSession(conn, engine, client > 0), nil
}
