package gosqlite

import (
	"errors"
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
	"dyno/runners/go/internal/sqlite"

	driver "github.com/eatonphil/gosqlite"
)

// session is a client of a mix on a connection.
type session struct {
	conn *driver.Conn
	// own is whether the connection ends with the client.
	own                   bool
	statements            []statement
	beginRead, beginWrite *driver.Stmt
	commit, rollback      *driver.Stmt
}

// statement is a prepared one, with what it is executed with.
type statement struct {
	// prepared is nil where it is prepared for each execution, from its text.
	prepared *driver.Stmt
	text     string
	// sources has for each parameter where its value comes from, values their values.
	sources []protocol.MixValue
	values  []any
	columns int
}

// Session is the session of a client.
func (d *Database) Session(client int) (runner.Session, error) {
	if client == 0 {
		return &session{conn: d.conn}, nil
	}
	return d.Connect()
}

// Connect is the session of a client that comes for a while.
func (d *Database) Connect() (runner.Session, error) {
	if err := d.settings.MayShare(); err != nil {
		return nil, err
	}
	another, err := d.another()
	if err != nil {
		return nil, err
	}
	return &session{conn: another, own: true}, nil
}

// StepAside does something while the database is closed: the last connection that goes copies the log into the database
// and removes it, which is a part of what short sessions pay.
func (d *Database) StepAside(meanwhile func()) error {
	if err := d.settings.MayShare(); err != nil {
		return err
	}
	if err := d.conn.Close(); err != nil {
		return err
	}
	meanwhile()
	another, err := d.another()
	if err == nil {
		d.conn = another
	}
	return err
}

// another is one more connection to the database, with the settings in force.
func (d *Database) another() (*driver.Conn, error) {
	another, err := open(d.location)
	if err != nil {
		return nil, err
	}
	if err := d.settings.ApplyAmongOthers((&Database{conn: another}).rows); err != nil {
		another.Close()
		return nil, err
	}
	return another, nil
}

func (s *session) Prepare(mix *protocol.Mix) error {
	if err := s.conn.Exec(sqlite.BusyTimeout(mix)); err != nil {
		return err
	}
	err := runner.PrepareAll(mix, dbsql.Question, func(one runner.Statement) error {
		own := statement{text: one.SQL, sources: one.Parameters, values: make([]any, len(one.Parameters))}
		if !one.IsSimple {
			var err error
			if own.prepared, err = prepare(s.conn, one.SQL); err != nil {
				return err
			}
			own.columns = own.prepared.ColumnCount()
		}
		s.statements = append(s.statements, own)
		return nil
	})
	reads, writes := runner.Has(mix, protocol.Read), runner.Has(mix, protocol.Write)
	for _, one := range []struct {
		prepared **driver.Stmt
		text     string
		needed   bool
	}{
		{&s.beginRead, "BEGIN", reads}, {&s.beginWrite, sqlite.BeginWrite, writes},
		{&s.commit, "COMMIT", reads || writes}, {&s.rollback, "ROLLBACK", reads || writes},
	} {
		if one.needed && err == nil {
			*one.prepared, err = prepare(s.conn, one.text)
		}
	}
	return err
}

// Run binds texts where they lie, in the mapped file.
func (s *session) Run(place int, values *runner.Values, answer *runner.Answer) error {
	one := &s.statements[place]
	for i, source := range one.sources {
		switch value := values.Get(source).(type) {
		case string:
			one.values[i] = driver.RawString(value)
		default:
			one.values[i] = value
		}
	}
	if one.prepared != nil {
		return execute(one.prepared, one.columns, one.values, answer)
	}
	prepared, err := prepare(s.conn, one.text)
	if err != nil {
		return err
	}
	err = execute(prepared, prepared.ColumnCount(), one.values, answer)
	// Its error is the one that went wrong before.
	if after := prepared.Close(); err == nil {
		err = after
	}
	return err
}

// execute executes a statement and reads every value of every row.
func execute(prepared *driver.Stmt, columns int, values []any, answer *runner.Answer) error {
	if columns == 0 {
		return prepared.Exec(values...)
	}
	err := prepared.Bind(values...)
	if err == nil {
		err = read(prepared, columns, answer)
	}
	// Its error is the one that went wrong before.
	if after := prepared.Reset(); err == nil {
		err = after
	}
	return err
}

func (s *session) Begin(purpose protocol.Purpose) error {
	if purpose == protocol.Write {
		return s.beginWrite.Exec()
	}
	return s.beginRead.Exec()
}

func (s *session) Commit() error { return s.commit.Exec() }

func (s *session) Rollback() error {
	err := s.rollback.Exec()
	if sqlite.IsUndone(code(err)) {
		return nil
	}
	return err
}

func (s *session) MayPass(err error) bool { return sqlite.MayPass(code(err)) }

// Codes are those of an error.
func (s *session) Codes(err error) []string { return sqlite.Codes(code(err)) }

func (s *session) Close() error {
	for _, one := range s.statements {
		if one.prepared != nil {
			_ = one.prepared.Close()
		}
	}
	for _, one := range []*driver.Stmt{s.beginRead, s.beginWrite, s.commit, s.rollback} {
		if one != nil {
			_ = one.Close()
		}
	}
	if s.own {
		return s.conn.Close()
	}
	return nil
}

// code is SQLite's code of an error, or 0.
func code(err error) int {
	var refused *driver.Error
	if errors.As(err, &refused) {
		return refused.Code()
	}
	return 0
}

// open opens a database, made where it is missing.
func open(location string) (*driver.Conn, error) {
	conn, err := driver.Open(location, driver.OPEN_READWRITE|driver.OPEN_CREATE|driver.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("cannot open the database: %w", err)
	}
	return conn, nil
}
