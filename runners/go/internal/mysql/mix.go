package mysql

import (
	"slices"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/runner"
)

// engine says how clients work.
var engine = dbsql.Engine{
	Parameter:  dbsql.Question,
	BeginWrite: "BEGIN",
	IsText:     true,
	Explain:    explain,
	Codes:      codes,
	MayPass:    func(err error) bool { return slices.Contains(mayPass, number(err)) },
}

// Session is the session of a client.
func (d *Database) Session(client int) (runner.Session, error) {
	if client == 0 {
		return dbsql.NewSession(d.Conn, engine, false), nil
	}
	return d.Connect()
}

// Connect is the session of a client that comes for a while.
func (d *Database) Connect() (runner.Session, error) {
	another, err := d.trial.Another()
	if err != nil {
		return nil, err
	}
	return dbsql.NewSession(another.Conn, engine, true), nil
}
