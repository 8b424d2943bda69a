package dbsql

import (
	"database/sql"
	"fmt"
	"strings"

	"dyno/runners/go/internal/runner"
)

// Dialect is how an engine spells an INSERT.
type Dialect struct {
	// Quote stands around a name.
	Quote string
	// Numbered says that parameters are $1, $2, … and not ?.
	Numbered bool
}

// Insert is the statement that inserts some rows.
func (d Dialect) Insert(load *runner.Load, rows int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "INSERT INTO %s (", d.Name(load.Table))
	for i, column := range load.Columns {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(d.Name(column.Name))
	}
	text.WriteString(") VALUES ")
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
			if number++; d.Numbered {
				fmt.Fprintf(&text, "$%d", number)
			} else {
				text.WriteByte('?')
			}
		}
		text.WriteByte(')')
	}
	return text.String()
}

// Name is a name of a table or column as it stands in a statement.
func (d Dialect) Name(name string) string {
	return d.Quote + strings.ReplaceAll(name, d.Quote, d.Quote+d.Quote) + d.Quote
}

// InsertRows inserts each row by an execution of its own of one prepared statement. This is a timed
// section.
func (c *Conn) InsertRows(load *runner.Load, dialect Dialect) (int, error) {
	return c.InsertMany(load, dialect, 1)
}

// InsertMany inserts some rows by each execution of a prepared statement. This is a timed section.
func (c *Conn) InsertMany(load *runner.Load, dialect Dialect, rows int) (int, error) {
	count := load.Rows.Len()
	many, err := c.Prepare(dialect.Insert(load, min(rows, max(count, 1))))
	if err != nil {
		return 0, err
	}
	defer many.Close()
	done := 0
	err = runner.Transactions(count, load.PerCommit, func(from, to int) error {
		return c.Transaction(func() (err error) {
			whole := from + (to-from)/rows*rows
			if err = insert(many, load, from, whole, rows); err == nil && whole < to {
				err = c.insertRest(load, dialect, whole, to)
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
func (c *Conn) insertRest(load *runner.Load, dialect Dialect, from, to int) error {
	rest, err := c.Prepare(dialect.Insert(load, to-from))
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
	for place := from; place < to; place += rows {
		for row := range rows {
			load.Strings(load.Rows.Get(place+row), values[row*columns:])
		}
		if _, err := statement.ExecContext(background, values...); err != nil {
			return runner.At(place, err)
		}
	}
	return nil
}
