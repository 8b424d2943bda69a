package pebble

import (
	"bytes"
	"encoding/binary"
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/cockroachdb/pebble/v2"
)

// InsertRows puts each row: its number is the key, its cells, each after its length, are the value.
func (d *Database) InsertRows(load *runner.Load) (int, error) {
	prefix := prefixOf(load.Table)
	first := d.rows[load.Table]
	var key, value []byte
	done, err := d.batches(load.Rows.Len(), load.PerCommit, load.Turns, nil, func(writer pebble.Writer, place int) error {
		key = numbered(key, prefix, first+uint64(place))
		value = encode(value[:0], load.Rows.Get(place), load.Columns)
		return writer.Set(key, value, d.write)
	})
	d.rows[load.Table] += uint64(done)
	return done, err
}

// BulkLoad does the same: how many rows make a batch is all that differs.
func (d *Database) BulkLoad(load *runner.Load) (int, error) { return d.InsertRows(load) }

// encode adds the cells of a row, each after its length.
func encode(value, row []byte, columns []protocol.Column) []byte {
	for i := range columns {
		width := columns[i].Bytes
		value = binary.AppendUvarint(value, uint64(width))
		value = append(value, row[:width]...)
		row = row[width:]
	}
	return value
}

var errTorn = errors.New("a row is not made of cells: it was stored by something else, or damaged")

// decode puts the cells of a row into places, as many as there are of these.
func decode(value []byte, cells [][]byte) error {
	for i := range cells {
		width, size := binary.Uvarint(value)
		if size <= 0 || width > uint64(len(value)-size) {
			return errTorn
		}
		value = value[size:]
		cells[i], value = value[:width], value[width:]
	}
	return nil
}

// Scan goes over the table's rows, decodes each as far as the columns that are compared, and counts those
// whose two cells differ.
func (d *Database) Scan(scan *runner.Scan, answer *runner.Answer) error {
	first, second := scan.Differ[0], scan.Differ[1]
	cells := make([][]byte, max(first, second)+1)
	count := int64(0)
	err := d.visit(scan.Table, func(value []byte) error {
		if err := decode(value, cells); err != nil {
			return err
		}
		if !bytes.Equal(cells[first], cells[second]) {
			count++
		}
		return nil
	})
	if err == nil {
		answer.Integer(count)
		answer.EndRow()
	}
	return err
}

func (d *Database) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) error {
	cells := make([][]byte, len(columns))
	return d.visit(table, func(value []byte) error {
		if err := decode(value, cells); err != nil {
			return err
		}
		return visit(cells)
	})
}

// visit hands over every row of a table.
func (d *Database) visit(table string, row func(value []byte) error) error {
	rows, err := d.db.NewIter(bounds(prefixOf(table)))
	if err != nil {
		return err
	}
	for more := rows.First(); more; more = rows.Next() {
		if err := row(rows.Value()); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Error(), rows.Close())
}
