package pgx

import (
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// statementName is the name of a prepared insert, of which the session has prepared this many before. It stays prepared
// until the connection ends, as those of libpq and libmariadb do, so that giving it back is within no clock.
func statementName(before int) string { return fmt.Sprintf("dyno_insert_%d", before) }

// batchRows is how many inserts of a batch are sent before their results are read.
const batchRows = 1000

// InsertRows inserts each row by an execution of one prepared statement.
func (s *session) InsertRows(load *runner.Load) (int, error) {
	values := make([]any, len(load.Columns))
	return s.inserts(load, func(statement string, from, to int) error {
		return load.Turns.Parts(from, to, 1, func(from, to int) error {
			for place := from; place < to; place++ {
				load.Strings(load.Rows.Get(place), values)
				if _, err := s.conn.Exec(background, statement, values...); err != nil {
					return runner.At(place, err)
				}
			}
			return nil
		})
	})
}

// BulkLoad loads the rows in the way that was asked for.
func (d *Database) BulkLoad(load *runner.Load) (int, error) {
	switch d.way {
	case wayInsert:
		return d.InsertRows(load)
	case wayBatch:
		return d.inserts(load, func(statement string, from, to int) error { return d.batches(load, statement, from, to) })
	}
	columns := make([]string, len(load.Columns))
	for i, column := range load.Columns {
		columns[i] = column.Name
	}
	table := pgx.Identifier{load.Table}
	rows := &source{load: load, values: make([]any, len(columns))}
	return d.transactions(load, runner.AnyRows, func(from, to int) error {
		rows.next, rows.end = from, to
		copied, err := d.conn.CopyFrom(background, table, columns, rows)
		if err == nil && int(copied) != to-from {
			err = fmt.Errorf("the server copied %d rows of %d", copied, to-from)
		}
		return err
	})
}

// source hands rows to CopyFrom. The values are used before the next row is asked for.
type source struct {
	load      *runner.Load
	next, end int
	values    []any
}

func (s *source) Next() bool { return s.next < s.end }

func (s *source) Values() ([]any, error) {
	s.load.Strings(s.load.Rows.Get(s.next), s.values)
	s.next++
	return s.values, nil
}

func (s *source) Err() error { return nil }

// batches sends the inserts of some rows, a thousand at once.
func (s *session) batches(load *runner.Load, statement string, from, to int) error {
	return load.Turns.Parts(from, to, batchRows, func(from, to int) error {
		for start := from; start < to; start += batchRows {
			if err := s.batch(load, statement, start, min(start+batchRows, to)); err != nil {
				return err
			}
		}
		return nil
	})
}

// batch sends the inserts of some rows at once. It keeps the values until it is sent, so each row has its own.
func (s *session) batch(load *runner.Load, statement string, start, end int) error {
	columns := len(load.Columns)
	batch := &pgx.Batch{}
	values := make([]any, (end-start)*columns)
	for place := start; place < end; place++ {
		row := values[(place-start)*columns:][:columns:columns]
		load.Strings(load.Rows.Get(place), row)
		batch.Queue(statement, row...)
	}
	results := s.conn.SendBatch(background, batch)
	for place := start; place < end; place++ {
		if _, err := results.Exec(); err != nil {
			// The outcome of the rest of the batch follows from this.
			_ = results.Close()
			return runner.At(place, err)
		}
	}
	return results.Close()
}

// inserts prepares the insert of one row and does work with it.
func (s *session) inserts(load *runner.Load, work func(statement string, from, to int) error) (int, error) {
	statement := statementName(s.prepared)
	s.prepared++
	if _, err := s.conn.Prepare(background, statement, dbsql.Insert(load, 1, parameter)); err != nil {
		return 0, s.explain(err)
	}
	return s.transactions(load, 1, func(from, to int) error { return work(statement, from, to) })
}

// transactions does the work of each transaction. A statement loads up to each rows.
func (s *session) transactions(load *runner.Load, each int, work func(from, to int) error) (int, error) {
	done, err := load.InTransactions(each, s.transaction, work)
	return done, s.explain(err)
}

// transaction does work between BEGIN and COMMIT. One that fails is left open: the connection ends with the trial, and the
// server rolls it back.
func (s *session) transaction(work func() error) error {
	if _, err := s.conn.Exec(background, "BEGIN"); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	_, err := s.conn.Exec(background, "COMMIT")
	return err
}

func (s *session) Scan(scan *runner.Scan, answer *runner.Answer) error {
	return s.Query(scan.SQL, answer)
}

func (s *session) ReadRows(table string, columns []protocol.Column, visit func([][]byte) error) error {
	rows, err := s.conn.Query(background, dbsql.Select(table, columns), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return s.explain(err)
	}
	defer rows.Close()
	for i, field := range rows.FieldDescriptions() {
		switch field.DataTypeOID {
		case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID:
		default:
			return fmt.Errorf("the column %s is not stored as text", columns[i].Name)
		}
	}
	for rows.Next() {
		row := rows.RawValues()
		for i, cell := range row {
			if cell == nil {
				return fmt.Errorf("a cell of the column %s is NULL and not text", columns[i].Name)
			}
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return s.explain(rows.Err())
}
