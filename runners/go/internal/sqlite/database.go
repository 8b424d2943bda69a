package sqlite

import (
	"database/sql/driver"
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// Database is an open database of a driver behind database/sql.
type Database struct {
	conn  *dbsql.Conn
	way   string
	store *store
	// opening is how it was opened, for more connections to it.
	opening opening
}

// opening is what is needed to open a database.
type opening struct {
	connector driver.Connector
	settings  *Settings
	// code is SQLite's code of an error, or 0.
	code func(error) int
}

// Driver is a module that reaches SQLite by database/sql.
type Driver struct {
	Module string
	// Connect is a database by its location.
	Connect func(location string) (driver.Connector, error)
	// Code is SQLite's code of an error, or 0.
	Code func(error) int
}

// The ways of working: bulk loads by prepared inserts of many rows each, and one by one; and stores in tables
// WITHOUT ROWID.
const (
	wayMultirow     = "multirow"
	wayInsert       = "insert"
	wayWithoutRowid = "without-rowid"
)

// manyRows is how many rows one statement of several inserts. Of 5 to 300 rows this was as quick as any,
// by both drivers.
const manyRows = 50

// Open opens a database with a driver.
func Open(job *protocol.Job, with Driver) (runner.Driver, *protocol.Hello, error) {
	way, err := runner.VariantOf(job, wayMultirow, wayInsert, wayWithoutRowid)
	if err != nil {
		return nil, nil, err
	}
	settings, err := Prepare(job, with.Code)
	if err != nil {
		return nil, nil, err
	}
	connector, err := with.Connect(settings.Location(job.Directory))
	if err != nil {
		return nil, nil, err
	}
	conn, err := dbsql.Open(connector, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the database: %w", err)
	}
	hello, err := settings.Greet(conn.Rows, with.Module)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return &Database{conn: conn, way: way, opening: opening{connector, settings, with.Code}}, hello, nil
}

func (d *Database) Close() error {
	err := d.store.close()
	if after := d.conn.Close(); err == nil {
		err = after
	}
	return err
}

func (d *Database) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	return d.conn.Statements(list, from, to, answer)
}

func (d *Database) Query(sql string, answer *runner.Answer) error { return d.conn.Query(sql, answer) }

// Changes asks SQLite, because what its drivers report for a statement that changes nothing is the figure of
// the one before.
func (d *Database) Changes() (int, error) { return TotalChanges(d.conn.Rows) }

// TotalChanges is how many rows have been changed since the database was opened.
func TotalChanges(ask Asker) (int, error) {
	rows, err := ask("SELECT total_changes()")
	if err != nil {
		return 0, err
	}
	changes, _ := rows[0][0].(int64)
	return int(changes), nil
}

func (d *Database) InsertRows(load *runner.Load) (int, error) {
	return d.conn.InsertRows(load, dbsql.Question)
}

func (d *Database) BulkLoad(load *runner.Load) (int, error) {
	if d.way == wayInsert {
		return d.InsertRows(load)
	}
	return d.conn.InsertMany(load, dbsql.Question, manyRows)
}

func (d *Database) Scan(scan *runner.Scan, answer *runner.Answer) error {
	return d.conn.Query(scan.SQL, answer)
}

func (d *Database) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) error {
	return d.conn.ReadRows(dbsql.Select(table, columns), columns, visit)
}
