package dbsql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// recorder is a driver, and its connection, that notes what it is asked for. The parameters of a statement are its rows.
type recorder struct {
	calls []string
	// values are those of all executions, one after another.
	values string
}

func (r *recorder) note(call string) { r.calls = append(r.calls, call) }

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return r, nil }

func (r *recorder) Driver() driver.Driver { return nil }

func (r *recorder) Prepare(text string) (driver.Stmt, error) {
	rows := strings.Count(text, "?")
	r.note(fmt.Sprint("prepare ", rows))
	return &recorded{r, rows}, nil
}

func (r *recorder) Close() error { return nil }

func (r *recorder) Begin() (driver.Tx, error) { return nil, errors.New("transactions are statements") }

func (r *recorder) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	r.note(text)
	return driver.RowsAffected(0), nil
}

// recorded is a prepared statement that inserts some rows.
type recorded struct {
	recorder *recorder
	rows     int
}

func (r *recorded) Close() error {
	r.recorder.note(fmt.Sprint("close ", r.rows))
	return nil
}

func (r *recorded) NumInput() int { return r.rows }

func (r *recorded) Exec(values []driver.Value) (driver.Result, error) {
	r.recorder.note(fmt.Sprint("insert ", r.rows))
	for _, value := range values {
		r.recorder.values += fmt.Sprint(value)
	}
	return driver.RowsAffected(r.rows), nil
}

func (r *recorded) Query([]driver.Value) (driver.Rows, error) {
	return nil, errors.New("an insert returns no rows")
}

func TestStatementsOfALoadArePreparedOnce(t *testing.T) {
	for _, one := range []struct {
		rows, perCommit int
		wanted          string
	}{
		{1, 3, "prepare 1, BEGIN, insert 1, insert 1, insert 1, COMMIT, BEGIN, insert 1, insert 1, insert 1, COMMIT, " +
			"BEGIN, insert 1, COMMIT"},
		{2, 3, "prepare 2, BEGIN, insert 2, prepare 1, insert 1, COMMIT, BEGIN, insert 2, insert 1, COMMIT, BEGIN, insert 1, COMMIT"},
		{3, 3, "prepare 3, insert 3, insert 3, prepare 1, insert 1"},
		{50, 3, "prepare 3, insert 3, insert 3, prepare 1, insert 1"},
		{50, 1, "prepare 1" + strings.Repeat(", insert 1", 7)},
		{50, 7, "prepare 7, insert 7"},
		{4, 1000, "prepare 4, BEGIN, insert 4, prepare 3, insert 3, COMMIT"},
	} {
		recorder := &recorder{}
		conn, err := Open(recorder, nil)
		if err != nil {
			t.Fatal(err)
		}
		load := &runner.Load{Table: "t", Columns: []protocol.Column{{Name: "a", Bytes: 1}}, Rows: runner.CellsOf([]byte("abcdefg"), 1),
			PerCommit: one.perCommit}
		done, err := conn.InsertMany(load, Question, one.rows)
		if got := strings.Join(recorder.calls, ", "); got != one.wanted || recorder.values != "abcdefg" || done != 7 || err != nil {
			t.Errorf("%d rows a statement, %d a transaction: %s; %d rows: %s, %v", one.rows, one.perCommit, got, done,
				recorder.values, err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if got := strings.Join(recorder.calls, ", "); !strings.HasPrefix(got, one.wanted+", close ") {
			t.Errorf("with the end of the connection: %s", got)
		}
	}
}
