package runner

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"dyno/runners/go/internal/protocol"
)

// An answer has this room before it grows: far more than the usual test returns, yet small compared with what
// an engine needs, because it is part of the peak memory that a sample reports.
const (
	reservedCells = 1 << 16
	reservedRows  = 1 << 15
	reservedBytes = 1 << 20
)

type kind uint8

const (
	null kind = iota
	integer
	real
	text
	blob
)

// cell is a value: bits is a number, or the length of a text or blob, which lies in the byte buffer in
// the same order.
type cell struct {
	kind kind
	bits uint64
}

// Answer is where a driver puts the values that it fetches: memory that is reserved, and its pages
// touched, before the first clock starts. Keeping a value costs what writing it to memory does.
type Answer struct {
	cells []cell
	bytes []byte
	// ends has for each row the number of cells up to its end.
	ends []int
	rows int
	drop bool
}

// residentAnswer is an empty answer whose memory is resident.
func residentAnswer() *Answer {
	answer := &Answer{
		cells: make([]cell, reservedCells),
		bytes: make([]byte, reservedBytes),
		ends:  make([]int, reservedRows),
	}
	for i := range answer.cells {
		answer.cells[i].bits = 1
	}
	for i := range answer.bytes {
		answer.bytes[i] = 1
	}
	for i := range answer.ends {
		answer.ends[i] = 1
	}
	return answer
}

// begin empties the answer. Without keep, rows are counted and the place of each is used again for the
// next: so a test whose answer is that of a check query may return any number of rows.
func (a *Answer) begin(keep bool) {
	a.cells, a.bytes, a.ends = a.cells[:0], a.bytes[:0], a.ends[:0]
	a.rows, a.drop = 0, !keep
}

// Null adds SQL NULL to the current row.
func (a *Answer) Null() { a.cells = append(a.cells, cell{kind: null}) }

// Integer adds a whole number to the current row.
func (a *Answer) Integer(value int64) {
	a.cells = append(a.cells, cell{integer, uint64(value)})
}

// Real adds any other number to the current row.
func (a *Answer) Real(value float64) {
	a.cells = append(a.cells, cell{real, math.Float64bits(value)})
}

// Text adds text to the current row; it need not be UTF-8.
func (a *Answer) Text(value string) {
	a.bytes = append(a.bytes, value...)
	a.cells = append(a.cells, cell{text, uint64(len(value))})
}

// TextBytes adds text to the current row; it need not be UTF-8.
func (a *Answer) TextBytes(value []byte) {
	a.bytes = append(a.bytes, value...)
	a.cells = append(a.cells, cell{text, uint64(len(value))})
}

// Blob adds bytes to the current row.
func (a *Answer) Blob(value []byte) {
	a.bytes = append(a.bytes, value...)
	a.cells = append(a.cells, cell{blob, uint64(len(value))})
}

// EndRow ends the current row.
func (a *Answer) EndRow() {
	a.rows++
	if a.drop {
		a.cells, a.bytes = a.cells[:0], a.bytes[:0]
		return
	}
	a.ends = append(a.ends, len(a.cells))
}

// Rows is how many rows have been fetched since the answer began, kept or not.
func (a *Answer) Rows() int { return a.rows }

// Any adds a value as database/sql's drivers hand it over. Bytes are a blob: a driver that means something
// else by them says so itself.
func (a *Answer) Any(value any) {
	switch value := value.(type) {
	case nil:
		a.Null()
	case int64:
		a.Integer(value)
	case uint64:
		if value > math.MaxInt64 {
			a.Real(float64(value))
		} else {
			a.Integer(int64(value))
		}
	case float64:
		a.Real(value)
	case float32:
		// By its digits: 0.1 and not the nearest number of twice the width.
		wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(value), 'g', -1, 32), 64)
		a.Real(wide)
	case bool:
		if value {
			a.Integer(1)
		} else {
			a.Integer(0)
		}
	case string:
		a.Text(value)
	case []byte:
		a.Blob(value)
	case time.Time:
		a.Text(value.Format("2006-01-02 15:04:05.999999"))
	default:
		a.Text(fmt.Sprint(value))
	}
}

// row adds a whole row, outside the clock.
func (a *Answer) row(values ...int64) {
	for _, value := range values {
		a.Integer(value)
	}
	a.EndRow()
}

// at is the value of a column of a row that was kept, as drivers take it; nil where it is not there.
func (a *Answer) at(row, column int) any {
	if row >= len(a.ends) {
		return nil
	}
	place := column
	if row > 0 {
		place += a.ends[row-1]
	}
	if place >= a.ends[row] {
		return nil
	}
	cell := a.cells[place]
	switch cell.kind {
	case integer:
		return int64(cell.bits)
	case real:
		return math.Float64frombits(cell.bits)
	case null:
		return nil
	}
	start := 0
	for _, before := range a.cells[:place] {
		if before.kind == text || before.kind == blob {
			start += int(before.bits)
		}
	}
	bytes := a.bytes[start : start+int(cell.bits)]
	if cell.kind == text {
		return string(bytes)
	}
	return slices.Clone(bytes)
}

// kept gives the rows that were kept, one a call, and nil after the last.
func (a *Answer) kept() func() []protocol.Value {
	row, first, place := 0, 0, 0
	return func() []protocol.Value {
		if row == len(a.ends) {
			return nil
		}
		values := make([]protocol.Value, 0, a.ends[row]-first)
		for _, cell := range a.cells[first:a.ends[row]] {
			values = append(values, a.value(cell, &place))
		}
		first = a.ends[row]
		row++
		return values
	}
}

// Kept is all rows that were kept, outside the clock.
func (a *Answer) Kept() [][]protocol.Value {
	var all [][]protocol.Value
	next := a.kept()
	for row := next(); row != nil; row = next() {
		all = append(all, row)
	}
	return all
}

func (a *Answer) value(cell cell, place *int) protocol.Value {
	switch cell.kind {
	case integer:
		return int64(cell.bits)
	case real:
		return protocol.Real(math.Float64frombits(cell.bits))
	case text, blob:
		bytes := a.bytes[*place : *place+int(cell.bits)]
		*place += len(bytes)
		if cell.kind == text {
			return protocol.Text(bytes)
		}
		return protocol.Blob(bytes)
	}
	return nil
}
