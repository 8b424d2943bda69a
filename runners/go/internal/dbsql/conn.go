// Package dbsql is the part that all drivers behind database/sql have in common: one connection, the loop
// over statements, the loop over rows to insert. This is how programs in Go use such a driver.
//
// The context is one without an end, so no driver starts a goroutine that watches it.
package dbsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

var background = context.Background()

// Conn is one connection of a driver.
type Conn struct {
	db   *sql.DB
	conn *sql.Conn
	// bytes adds a value that the driver hands over as bytes, by the engine's name of its column's type.
	bytes func(value []byte, kind string, answer *runner.Answer)
	// changed is how many rows statements have changed, as the engine reports for each.
	changed int
	// cells is where the values of a row are put, kept from query to query.
	cells fetched
	// loads are the statements of loads, which stay prepared: database/sql closes none that one connection prepared.
	loads []*sql.Stmt
}

// Open connects. Without a function for them, bytes are blobs.
func Open(connector driver.Connector, bytes func(value []byte, kind string, answer *runner.Answer)) (*Conn, error) {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(background)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Conn{db: db, conn: conn, bytes: bytes}, nil
}

// Close ends the connection.
func (c *Conn) Close() error {
	for _, statement := range c.loads {
		statement.Close()
	}
	err := c.conn.Close()
	if after := c.db.Close(); err == nil {
		err = after
	}
	return err
}

// Changed is how many rows statements have changed, as the engine reported for each.
func (c *Conn) Changed() int { return c.changed }

// Statements executes statements from one place of a list to another and fetches every value of every row. This is a timed section.
func (c *Conn) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	for i := from; i < to; i++ {
		var err error
		if list.MayAnswer(i) {
			err = c.fetch(list.Get(i), answer)
		} else {
			err = c.Exec(list.Get(i))
		}
		if err != nil {
			return runner.At(i, err)
		}
	}
	return nil
}

// Query executes a statement and puts its rows into the answer.
func (c *Conn) Query(text string, answer *runner.Answer) error {
	if runner.MayAnswer(text) {
		return c.fetch(text, answer)
	}
	return c.Exec(text)
}

// Exec executes a statement that returns no row.
func (c *Conn) Exec(text string) error {
	result, err := c.conn.ExecContext(background, text)
	if err != nil {
		return err
	}
	// A driver that cannot report this is asked in another way.
	if changed, err := result.RowsAffected(); err == nil {
		c.changed += int(changed)
	}
	return nil
}

// Rows executes a statement outside the clock and returns its rows.
func (c *Conn) Rows(text string) ([][]protocol.Value, error) {
	answer := &runner.Answer{}
	if err := c.Query(text, answer); err != nil {
		return nil, err
	}
	return answer.Kept(), nil
}

// fetch executes a query and reads every value of every row.
func (c *Conn) fetch(text string, answer *runner.Answer) error {
	rows, err := c.conn.QueryContext(background, text)
	if err != nil {
		return err
	}
	return c.read(rows, answer)
}

// read reads every value of every row.
func (c *Conn) read(rows *sql.Rows, answer *runner.Answer) error {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	dest := c.cells.prepare(c, rows, len(columns), answer)
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		answer.EndRow()
	}
	return rows.Err()
}

// ReadRows reads a table back by a query, outside the clock. A cell that is no text is an error.
func (c *Conn) ReadRows(query string, columns []protocol.Column, visit func([][]byte) error) error {
	rows, err := c.conn.QueryContext(background, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	row, dest := make([][]byte, len(columns)), make([]any, len(columns))
	for i := range dest {
		dest[i] = newTextCell(&row[i], columns[i].Name, types[i].DatabaseTypeName(), c.bytes != nil)
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Prepare prepares a statement on the connection.
func (c *Conn) Prepare(text string) (*sql.Stmt, error) {
	return c.conn.PrepareContext(background, text)
}

// Transaction does work between BEGIN and COMMIT. After a failure it rolls back.
func (c *Conn) Transaction(work func() error) error {
	if _, err := c.conn.ExecContext(background, "BEGIN"); err != nil {
		return err
	}
	if err := work(); err != nil {
		// The failure is the cause; the connection may be lost.
		_, _ = c.conn.ExecContext(background, "ROLLBACK")
		return err
	}
	if _, err := c.conn.ExecContext(background, "COMMIT"); err != nil {
		return fmt.Errorf("COMMIT: %w", err)
	}
	return nil
}
