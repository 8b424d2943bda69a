package dbsql

import (
	"database/sql"
	"fmt"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// Parameter spells a parameter of a statement by its number from 1.
type Parameter func(number int) string

// Question is how SQLite and MySQL spell a parameter.
func Question(int) string { return "?" }

// Insert is the statement that inserts some rows. Names are as the job spells them, because the statements
// that made the table did so too.
func Insert(load *runner.Load, rows int, parameter Parameter) string {
	var text strings.Builder
	fmt.Fprintf(&text, "INSERT INTO %s (%s) VALUES ", load.Table, Names(load.Columns))
	number := 0
	for row := range rows {
		if row > 0 {
			text.WriteString(", ")
		}
		text.WriteByte('(')
		for i := range load.Columns {
			if i > 0 {
				text.WriteString(", ")
			}
			number++
			text.WriteString(parameter(number))
		}
		text.WriteByte(')')
	}
	return text.String()
}

// Names is a list of columns.
func Names(columns []protocol.Column) string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	return strings.Join(names, ", ")
}

// Select is the statement that reads whole rows.
func Select(table string, columns []protocol.Column) string {
	return fmt.Sprintf("SELECT %s FROM %s", Names(columns), table)
}

// InsertRows inserts each row by a separate execution of one prepared statement. This is a timed
// section.
func (c *Conn) InsertRows(load *runner.Load, parameter Parameter) (int, error) {
	return c.InsertMany(load, parameter, 1)
}

// mostParameters is how many parameters one statement of any engine takes: SQLite's limit is the lowest.
const mostParameters = 32_766

// InsertMany inserts some rows, as many as parameters allow, by each execution of a prepared statement.
// This is a timed section.
func (c *Conn) InsertMany(load *runner.Load, parameter Parameter, rows int) (int, error) {
	count := load.Rows.Len()
	rows = max(min(rows, mostParameters/len(load.Columns), count), 1)
	many, err := c.Prepare(Insert(load, rows, parameter))
	if err != nil {
		return 0, err
	}
	defer many.Close()
	done := 0
	err = runner.Transactions(count, load.PerCommit, func(from, to int) error {
		return c.Transaction(func() (err error) {
			whole := from + (to-from)/rows*rows
			if err = insert(many, load, from, whole, rows); err == nil && whole < to {
				err = c.insertRest(load, parameter, whole, to)
			}
			if err == nil {
				done += to - from
			}
			return err
		})
	})
	return done, err
}

// insertRest inserts what is less than a statement of many rows, by one that is made for it.
func (c *Conn) insertRest(load *runner.Load, parameter Parameter, from, to int) error {
	rest, err := c.Prepare(Insert(load, to-from, parameter))
	if err != nil {
		return err
	}
	defer rest.Close()
	return insert(rest, load, from, to, to-from)
}

// insert executes a statement of some rows until all are in. The cells are strings that share the memory
// of the mapped file.
func insert(statement *sql.Stmt, load *runner.Load, from, to, rows int) error {
	columns := len(load.Columns)
	values := make([]any, rows*columns)
	return load.Turns.Parts(from, to, rows, func(from, to int) error {
		for place := from; place < to; place += rows {
			for row := range rows {
				load.Strings(load.Rows.Get(place+row), values[row*columns:])
			}
			if _, err := statement.ExecContext(background, values...); err != nil {
				return runner.At(place, err)
			}
		}
		return nil
	})
}
