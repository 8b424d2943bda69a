package runner

import (
	"math"

	"dyno/runners/go/internal/protocol"
)

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

// AnyRows is how many rows a statement loads that takes all there are.
const AnyRows = math.MaxInt

// InTransactions does the work of each transaction of a load, from one place to another, within transaction, which begins and
// commits. A statement loads up to each rows: where these are a whole transaction, it commits on its own, because BEGIN and
// COMMIT would cost an exchange with a server each. It returns how many rows were loaded.
func (l *Load) InTransactions(each int, transaction func(work func() error) error, work func(from, to int) error) (int, error) {
	count := l.Rows.Len()
	isSingle := min(l.PerCommit, count) <= each
	done := 0
	for from := 0; from < count; from += l.PerCommit {
		to := min(from+l.PerCommit, count)
		var err error
		if isSingle {
			err = work(from, to)
		} else {
			err = transaction(func() error { return work(from, to) })
		}
		if err != nil {
			return done, err
		}
		done += to - from
	}
	return done, nil
}
