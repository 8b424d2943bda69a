package pq

import (
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// InsertRows inserts each row by an execution of one prepared statement.
func (d *Database) InsertRows(load *runner.Load) (int, error) {
	done, err := d.conn.InsertRows(load, parameter)
	return done, explain(err)
}

// BulkLoad copies the rows in, or inserts them.
func (d *Database) BulkLoad(load *runner.Load) (int, error) {
	if d.way == wayInsert {
		return d.InsertRows(load)
	}
	done, err := d.copyRows(load)
	return done, explain(err)
}

// copyRows copies the rows of each transaction in. The driver refuses COPY outside of one, so each is begun.
func (d *Database) copyRows(load *runner.Load) (int, error) {
	text := fmt.Sprintf("COPY %s (%s) FROM STDIN", load.Table, dbsql.Names(load.Columns))
	values := make([]any, len(load.Columns))
	return load.InTransactions(0, d.conn.Transaction, func(from, to int) error {
		return d.copyIn(load, text, values, from, to)
	})
}

// copyIn is the driver's way of COPY: a prepared statement, executed with the values of each row and at last
// with none, which ends it.
func (d *Database) copyIn(load *runner.Load, text string, values []any, from, to int) error {
	statement, err := d.conn.Prepare(text)
	if err != nil {
		return err
	}
	defer statement.Close()
	for place := from; place < to; place++ {
		load.Strings(load.Rows.Get(place), values)
		// An error may be that of an earlier row: the driver does not wait for the server.
		if _, err := statement.Exec(values...); err != nil {
			return err
		}
	}
	result, err := statement.Exec()
	if err != nil {
		return err
	}
	if copied, err := result.RowsAffected(); err != nil || int(copied) != to-from {
		return fmt.Errorf("the server copied %d rows of %d (%v)", copied, to-from, err)
	}
	return nil
}

func (d *Database) Scan(scan *runner.Scan, answer *runner.Answer) error {
	return d.Query(scan.SQL, answer)
}

func (d *Database) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) error {
	return explain(d.conn.ReadRows(dbsql.Select(table, columns), columns, visit))
}
