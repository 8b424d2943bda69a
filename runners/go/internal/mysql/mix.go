package mysql

import (
	"fmt"
	"slices"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/runner"
)

// Session is the session of a client.
func (d *Database) Session(client int) (runner.Session, error) {
	conn := d.Conn
	if client > 0 {
		another, err := d.another()
		if err != nil {
			return nil, err
		}
		conn = another.Conn
	}
	engine := dbsql.Engine{
		Parameter:  dbsql.Question,
		BeginWrite: "BEGIN",
		IsText:     true,
		Explain:    explain,
		MayPass:    func(err error) bool { return slices.Contains(mayPass, number(err)) },
	}
	return dbsql.NewSession(conn, engine, client > 0), nil
}

// another is one more connection to the trial's database, with the settings in force.
func (d *Database) another() (*session, error) {
	session, err := connect(d.server)
	if err != nil {
		return nil, err
	}
	if err = d.settings.apply(session); err == nil {
		_, err = session.rows(fmt.Sprintf("USE `%s`", d.server.Scratch))
	}
	if err != nil {
		_ = session.Close()
		return nil, err
	}
	return session, nil
}
