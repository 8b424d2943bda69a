package dbsql

import (
	"database/sql"
	"fmt"
	"strings"
	"unsafe"

	"dyno/runners/go/internal/runner"
)

// fetched takes the values of a row from database/sql: each place is a sql.Scanner, to which a value comes
// as the driver made it, without another copy.
type fetched struct {
	places []place
	dest   []any
	conn   *Conn
	rows   *sql.Rows
	answer *runner.Answer
	// kinds are the types of the columns; asked for when the first bytes come, whose meaning only they
	// define.
	kinds []string
}

type place struct {
	all    *fetched
	column int
}

// prepare gives as many places as there are columns.
func (f *fetched) prepare(conn *Conn, rows *sql.Rows, columns int, answer *runner.Answer) []any {
	if len(f.places) < columns {
		f.places, f.dest = make([]place, columns), make([]any, columns)
		for i := range f.places {
			f.places[i] = place{f, i}
			f.dest[i] = &f.places[i]
		}
	}
	f.conn, f.rows, f.answer, f.kinds = conn, rows, answer, nil
	return f.dest[:columns]
}

// Scan adds a value to the answer.
func (p *place) Scan(value any) error {
	all := p.all
	switch value := value.(type) {
	case int64:
		all.answer.Integer(value)
	case string:
		all.answer.Text(value)
	case []byte:
		if all.conn.bytes == nil {
			all.answer.Blob(value)
			return nil
		}
		kind, err := all.kind(p.column)
		if err != nil {
			return err
		}
		all.conn.bytes(value, kind, all.answer)
	default:
		all.answer.Any(value)
	}
	return nil
}

func (f *fetched) kind(column int) (string, error) {
	if f.kinds == nil {
		types, err := f.rows.ColumnTypes()
		if err != nil {
			return "", err
		}
		f.kinds = make([]string, len(types))
		for i := range types {
			f.kinds[i] = types[i].DatabaseTypeName()
		}
	}
	return f.kinds[column], nil
}

// textCell takes a value that must be text.
type textCell struct {
	cell         *[]byte
	column, kind string
	// bytesAreText says whether the driver gives texts of this column as bytes.
	bytesAreText bool
}

func newTextCell(cell *[]byte, column, kind string, servers bool) *textCell {
	isText := strings.Contains(kind, "TEXT") || strings.Contains(kind, "CHAR")
	return &textCell{cell, column, kind, servers && isText}
}

// Scan takes the value; it is good until the next row.
func (t *textCell) Scan(value any) error {
	switch value := value.(type) {
	case string:
		*t.cell = unsafe.Slice(unsafe.StringData(value), len(value))
		return nil
	case []byte:
		if t.bytesAreText {
			*t.cell = value
			return nil
		}
		return fmt.Errorf("a cell of the column %s (%s) is not stored as text but as bytes", t.column, t.kind)
	case nil:
		return fmt.Errorf("a cell of the column %s is NULL and not text", t.column)
	}
	return fmt.Errorf("a cell of the column %s (%s) is not stored as text but as %T", t.column, t.kind, value)
}
