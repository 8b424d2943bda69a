package runner

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"dyno/runners/go/internal/protocol"
)

// anyCode stands for any code.
const anyCode = "*"

// SQL executes what the job lists, outside the clock: what it means is for dyno to say.
type SQL struct {
	// Rows executes a statement and returns its rows.
	Rows func(sql string) ([][]protocol.Value, error)
	// Code is the engine's code of an error; empty for an error of the connection.
	Code func(err error) string
}

// refused is a statement of the job that the engine refused.
type refused struct{ name, code, message string }

func (r *refused) Error() string { return r.message }

// Execute executes the statements of a maintenance, in order.
func (s SQL) Execute(statements []protocol.Statement) error {
	for _, statement := range statements {
		if _, err := s.run(statement); err != nil {
			return s.refusal(statement, err, fmt.Sprintf("cannot %s: %s", statement.Name, err))
		}
	}
	return nil
}

// run executes a statement and reports whether it was refused for a reason that the job ignores.
func (s SQL) run(statement protocol.Statement) (ignored bool, err error) {
	statements := []string{statement.SQL}
	if statement.Each {
		rows, err := s.Rows(statement.SQL)
		if err != nil {
			return false, err
		}
		statements = nil
		for _, row := range rows {
			if sql, ok := row[0].(string); ok {
				statements = append(statements, sql)
			}
		}
	}
	for _, sql := range statements {
		if _, err := s.Rows(sql); err != nil {
			code := s.Code(err)
			if code == "" || !slices.Contains(statement.Ignores, code) && !slices.Contains(statement.Ignores, anyCode) {
				return false, err
			}
			ignored = true
		}
	}
	return ignored, nil
}

func (s SQL) refusal(statement protocol.Statement, err error, message string) error {
	return &refused{statement.Name, s.Code(err), message}
}

// ReadBack asks the job's queries. What the engine refuses is reported as that; a lost connection is an error.
func (s SQL) ReadBack(queries []protocol.Query) ([]protocol.Readback, error) {
	var answers []protocol.Readback
	for _, query := range queries {
		rows, err := s.Rows(query.Query)
		answer := protocol.Readback{Name: query.Name, Rows: rows}
		if err != nil {
			code := s.Code(err)
			if code == "" {
				return nil, fmt.Errorf("cannot read the settings back: %w", err)
			}
			answer.Refused = &protocol.Refusal{Code: code, Message: err.Error()}
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// FirstNumber is the answer of the first of some queries that the engine does not refuse; 0 if it refuses all.
func (s SQL) FirstNumber(queries []string) (int64, error) {
	for _, query := range queries {
		rows, err := s.Rows(query)
		if err == nil && len(rows) > 0 && len(rows[0]) > 0 {
			return strconv.ParseInt(fmt.Sprint(rows[0][0]), 10, 64)
		}
		if err != nil && s.Code(err) == "" {
			return 0, err
		}
	}
	return 0, nil
}

// OnConnect is the settings that every connection sets for itself.
type OnConnect struct {
	statements []protocol.Statement
	// refused says of each whether the first connection was refused it.
	refused atomic.Pointer[[]bool]
}

// NewOnConnect is that of a job.
func NewOnConnect(job *protocol.Job) *OnConnect { return &OnConnect{statements: job.OnConnect} }

// Apply sets them for a connection. What the first one was refused is not tried again: it would cost each of the others an
// exchange that no ordinary program makes.
func (o *OnConnect) Apply(sql SQL) error {
	known := o.refused.Load()
	refused := make([]bool, len(o.statements))
	for place, statement := range o.statements {
		if known != nil && (*known)[place] {
			continue
		}
		var err error
		if refused[place], err = sql.run(statement); err != nil {
			return sql.refusal(statement, err, fmt.Sprintf("the setting '%s' is refused: %s", statement.Name, err))
		}
	}
	o.refused.CompareAndSwap(nil, &refused)
	return nil
}
