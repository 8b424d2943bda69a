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
	conn *dbsql.Conn
	// rows is how many rows one statement of a bulk load inserts.
	rows  int
	store *store
}

// Open opens a database with the driver of a module, by which one statement of a bulk load inserts so many
// rows.
func Open(settings *Settings, connector driver.Connector, module string, rows int) (*Database, *protocol.Hello, error) {
	conn, err := dbsql.Open(connector, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the database: %w", err)
	}
	hello, err := settings.Greet(conn.Rows, module)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return &Database{conn: conn, rows: rows}, hello, nil
}

func (d *Database) Close() error {
	err := d.store.close()
	if after := d.conn.Close(); err == nil {
		err = after
	}
	return err
}

func (d *Database) Statements(list *runner.StatementList, answer *runner.Answer) (int, error) {
	return d.conn.Statements(list, answer)
}

func (d *Database) Query(sql string, answer *runner.Answer) error { return d.conn.Query(sql, answer) }

// Changes asks SQLite, because what its drivers tell of a statement that changes nothing is the figure of
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
	return d.conn.InsertMany(load, dbsql.Question, d.rows)
}

func (d *Database) Scan(scan *runner.Scan, answer *runner.Answer) error {
	return d.conn.Query(scan.SQL, answer)
}

func (d *Database) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) error {
	return d.conn.ReadRows(dbsql.Select(table, columns), columns, visit)
}
