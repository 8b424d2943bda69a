package gosqlite

import (
	"errors"
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	driver "github.com/eatonphil/gosqlite"
)

// InsertRows inserts each row by an execution of one prepared statement.
func (d *Database) InsertRows(load *runner.Load) (int, error) { return d.insert(load) }

// BulkLoad does the same: statements of several rows were slower, as every cell is bound by a call of its
// own in either case.
func (d *Database) BulkLoad(load *runner.Load) (int, error) { return d.insert(load) }

// insert binds the cells where they lie, in the mapped file, without a copy.
func (d *Database) insert(load *runner.Load) (int, error) {
	statement, err := prepare(d.conn, dbsql.Insert(load, 1, dbsql.Question))
	if err != nil {
		return 0, err
	}
	defer statement.Close()
	values := make([]any, len(load.Columns))
	return load.InTransactions(1, d.conn.WithTx, func(from, to int) error {
		return load.Turns.Parts(from, to, 1, func(from, to int) error {
			for place := from; place < to; place++ {
				row := load.Rows.Get(place)
				for i := range load.Columns {
					width := load.Columns[i].Bytes
					values[i] = driver.RawString(runner.String(row[:width]))
					row = row[width:]
				}
				if err := statement.Exec(values...); err != nil {
					return runner.At(place, err)
				}
			}
			return nil
		})
	})
}

func (d *Database) Scan(scan *runner.Scan, answer *runner.Answer) error {
	return d.fetch(scan.SQL, answer)
}

func (d *Database) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) (err error) {
	statement, err := prepare(d.conn, dbsql.Select(table, columns))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, statement.Close()) }()
	row := make([][]byte, len(columns))
	for {
		more, err := statement.Step()
		if err != nil || !more {
			return err
		}
		for i := range row {
			if statement.ColumnType(i) != driver.TEXT {
				return fmt.Errorf("a cell of the column %s is not stored as text", columns[i].Name)
			}
			if row[i], err = statement.ColumnRawBytes(i); err != nil {
				return err
			}
		}
		if err := visit(row); err != nil {
			return err
		}
	}
}
