// Package gosqlite reaches SQLite by github.com/eatonphil/gosqlite, which binds the C library that it
// carries and has a separate interface, close to C's, in place of database/sql.
package gosqlite

import (
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
	"dyno/runners/go/internal/sqlite"

	driver "github.com/eatonphil/gosqlite"
)

const module = "github.com/eatonphil/gosqlite"

// Database is an open database.
type Database struct {
	conn *driver.Conn
	// The settings with which it was opened, for more connections to it.
	settings *sqlite.Settings
	location string
}

// Open opens a fresh database. The driver changes no setting unprompted.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	if err := runner.NoVariants(job); err != nil {
		return nil, nil, err
	}
	settings, err := sqlite.Prepare(job, code)
	if err != nil {
		return nil, nil, err
	}
	location := settings.Location(job.Directory)
	conn, err := open(location)
	if err != nil {
		return nil, nil, err
	}
	database := &Database{conn, settings, location}
	hello, err := settings.Greet(database.rows, module)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return database, hello, nil
}

func (d *Database) Close() error { return d.conn.Close() }

// Statements executes statements from one place of a list to another and fetches every value of every row. This is a timed section.
func (d *Database) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	for i := from; i < to; i++ {
		var err error
		if list.MayAnswer(i) {
			err = d.fetch(list.Get(i), answer)
		} else {
			err = d.conn.Exec(list.Get(i))
		}
		if err != nil {
			return runner.At(i, err)
		}
	}
	return nil
}

func (d *Database) Query(sql string, answer *runner.Answer) error { return d.fetch(sql, answer) }

func (d *Database) Changes() (int, error) { return d.conn.TotalChanges(), nil }

func (d *Database) rows(sql string) ([][]protocol.Value, error) {
	answer := &runner.Answer{}
	if err := d.fetch(sql, answer); err != nil {
		return nil, err
	}
	return answer.Kept(), nil
}

// fetch prepares a statement, steps to its end and reads every value of every row.
func (d *Database) fetch(sql string, answer *runner.Answer) (err error) {
	statement, err := prepare(d.conn, sql)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	return read(statement, statement.ColumnCount(), answer)
}

// read steps to the end and reads every value of every row.
func read(statement *driver.Stmt, columns int, answer *runner.Answer) error {
	for {
		more, err := statement.Step()
		if err != nil || !more {
			return err
		}
		for column := range columns {
			if err := put(statement, column, answer); err != nil {
				return err
			}
		}
		answer.EndRow()
	}
}

// put adds a value by its type. The texts and blobs are SQLite's own memory.
func put(statement *driver.Stmt, column int, answer *runner.Answer) error {
	switch statement.ColumnType(column) {
	case driver.INTEGER:
		value, _, err := statement.ColumnInt64(column)
		answer.Integer(value)
		return err
	case driver.FLOAT:
		value, _, err := statement.ColumnDouble(column)
		answer.Real(value)
		return err
	case driver.TEXT:
		value, _, err := statement.ColumnRawString(column)
		answer.Text(string(value))
		return err
	case driver.BLOB:
		value, err := statement.ColumnRawBytes(column)
		answer.Blob(value)
		return err
	}
	answer.Null()
	return nil
}

func prepare(conn *driver.Conn, sql string) (*driver.Stmt, error) {
	statement, err := conn.Prepare(sql)
	if err == nil && statement == nil {
		err = errors.New("there is no statement in it, only a comment")
	}
	return statement, err
}
