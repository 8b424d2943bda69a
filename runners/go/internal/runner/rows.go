package runner

import "dyno/runners/go/internal/protocol"

// Load is rows to load.
type Load struct {
	// Table is there, with these columns.
	Table   string
	Columns []protocol.Column
	// Rows are the rows: each is its cells one after another.
	Rows Cells
	// PerCommit is how many rows make a transaction: all of them where the job does not say.
	PerCommit int
	// Turns is when they are loaded.
	Turns *Turns
}

// Scan is a scan of a table.
type Scan struct {
	Table   string
	Columns []protocol.Column
	// Differ is the two columns that are compared, by position.
	Differ [2]int
	// SQL is the same as a query.
	SQL string
}

// Strings puts the cells of a row into values as strings that share its memory.
func (l *Load) Strings(row []byte, values []any) {
	for i := range l.Columns {
		width := l.Columns[i].Bytes
		values[i] = String(row[:width])
		row = row[width:]
	}
}

// Transactions calls work for each transaction of a load of count operations: from one place to another.
func Transactions(count, perCommit int, work func(from, to int) error) error {
	for from := 0; from < count; from += perCommit {
		if err := work(from, min(from+perCommit, count)); err != nil {
			return err
		}
	}
	return nil
}
