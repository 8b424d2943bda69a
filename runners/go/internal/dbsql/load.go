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

// InsertMany inserts some rows, as many as parameters and transactions allow, by each execution of a prepared statement.
// This is a timed section.
func (c *Conn) InsertMany(load *runner.Load, parameter Parameter, rows int) (int, error) {
	columns := len(load.Columns)
	rows = max(min(rows, mostParameters/columns, load.PerCommit, load.Rows.Len()), 1)
	inserts := &inserts{conn: c, load: load, parameter: parameter, values: make([]any, rows*columns)}
	many, err := inserts.prepare(rows)
	if err != nil {
		return 0, err
	}
	return load.InTransactions(rows, c.Transaction, func(from, to int) error {
		return inserts.insert(many, rows, from, to)
	})
}

// inserts are the statements of a load, each prepared once. They stay prepared until the connection ends, so that giving them
// back, for which lib/pq waits for the server, is within no clock.
type inserts struct {
	conn      *Conn
	load      *runner.Load
	parameter Parameter
	// rest is the statement for what was left of the last transaction that many rows at a time do not divide, restRows how
	// many it inserts.
	rest     *sql.Stmt
	restRows int
	// values are those of an execution.
	values []any
}

// prepare prepares the statement that inserts some rows.
func (i *inserts) prepare(rows int) (*sql.Stmt, error) {
	statement, err := i.conn.Prepare(Insert(i.load, rows, i.parameter))
	if err == nil {
		i.conn.loads = append(i.conn.loads, statement)
	}
	return statement, err
}

// insert inserts what lies from one place to another by a statement of many rows, and what is left by one of fewer.
func (i *inserts) insert(many *sql.Stmt, rows, from, to int) error {
	left := (to - from) % rows
	if err := i.execute(many, rows, from, to-left); err != nil || left == 0 {
		return err
	}
	if left != i.restRows {
		rest, err := i.prepare(left)
		if err != nil {
			return err
		}
		i.rest, i.restRows = rest, left
	}
	return i.execute(i.rest, left, to-left, to)
}

// execute executes a statement of some rows until all are in. The cells are strings that share the memory
// of the mapped file.
func (i *inserts) execute(statement *sql.Stmt, rows, from, to int) error {
	load, columns := i.load, len(i.load.Columns)
	values := i.values[:rows*columns]
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
