// Package pgx reaches PostgreSQL by github.com/jackc/pgx, through its own interface, which its authors
// recommend where the database is PostgreSQL.
package pgx

import (
	"context"
	"errors"
	"fmt"

	"dyno/runners/go/internal/postgres"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The ways of loading: COPY in the binary format, prepared inserts sent many at a time, and one by one.
const (
	wayCopy   = "copy"
	wayBatch  = "batch"
	wayInsert = "insert"
)

var background = context.Background()

// Database is the trial's database.
type Database struct {
	trial *runner.ServerTrial[*session]
	*session
	way string
}

// session is a connection.
type session struct {
	conn    *pgx.Conn
	changed int
	// prepared is how many inserts have been prepared.
	prepared int
}

// Open makes the trial's database.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	way, err := runner.VariantOf(job, wayCopy, wayBatch, wayInsert)
	if err != nil {
		return nil, nil, err
	}
	trial, hello, err := runner.OpenServer(job, runner.Client[*session]{
		Module:     "github.com/jackc/pgx/v5",
		Dial:       connector,
		Code:       postgres.Code,
		Encryption: func(s *session) string { return postgres.Encryption(s) },
	})
	if err != nil {
		return nil, nil, err
	}
	return &Database{trial, trial.First, way}, hello, nil
}

// known are the options of a URL that pgx keeps.
var known = append([]string{"channel_binding", "require_auth", "sslcertmode"}, postgres.Common...)

// connector reads the configuration once, as a program does that connects often.
func connector(server *protocol.Server) (runner.Connect[*session], error) {
	options, err := postgres.Options(server, "pgx", known)
	if err != nil {
		return nil, postgres.CannotConnect(server, err)
	}
	config, err := pgx.ParseConfig(options)
	if err != nil {
		return nil, postgres.CannotConnect(server, err)
	}
	if server.Password != nil {
		config.Password = server.Password.Reveal()
	}
	return func() (*session, error) {
		conn, err := pgx.ConnectConfig(background, config)
		if err != nil {
			return nil, postgres.CannotConnect(server, err)
		}
		return &session{conn: conn}, nil
	}, nil
}

func (d *Database) Close() error { return d.trial.Close() }

func (d *Database) DatabaseBytes() (int64, error) { return d.trial.DatabaseBytes() }

func (d *Database) Changes() (int, error) { return d.changed, nil }

func (s *session) Close() error { return s.conn.Close(background) }

func (s *session) Rows(sql string) ([][]protocol.Value, error) {
	answer := &runner.Answer{}
	if err := s.Query(sql, answer); err != nil {
		return nil, err
	}
	return answer.Kept(), nil
}

// Statements executes statements from one place of a list to another and reads every value of every row. It is a part of a
// timed section.
func (s *session) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	for i := from; i < to; i++ {
		var err error
		if list.MayAnswer(i) {
			err = s.fetch(list.Get(i), answer)
		} else {
			err = s.exec(list.Get(i))
		}
		if err != nil {
			return runner.At(i, s.explain(err))
		}
	}
	return nil
}

func (s *session) Query(sql string, answer *runner.Answer) error {
	if runner.MayAnswer(sql) {
		return s.explain(s.fetch(sql, answer))
	}
	return s.explain(s.exec(sql))
}

func (s *session) exec(sql string) error {
	tag, err := s.conn.Exec(background, sql)
	s.changed += int(tag.RowsAffected())
	return err
}

// fetch executes a query by the simple protocol: in one exchange, as a text that is executed once asks for.
// Values are read from their text by the type of the column.
func (s *session) fetch(sql string, answer *runner.Answer) error {
	rows, err := s.conn.Query(background, sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	defer rows.Close()
	fields := rows.FieldDescriptions()
	for rows.Next() {
		for i, value := range rows.RawValues() {
			put(value, fields[i].DataTypeOID, answer)
		}
		answer.EndRow()
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if tag := rows.CommandTag(); !tag.Select() {
		s.changed += int(tag.RowsAffected())
	}
	return nil
}

// explain rewords an error in common terms. It keeps the place of an operation.
func (s *session) explain(err error) error {
	var failure *runner.Failure
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return runner.At(failure.Index, s.explain(failure.Err))
	case s.conn.IsClosed():
		return postgres.Lost(err)
	case errors.As(err, &refused):
		return postgres.Refused(refused.Code, refused.Message, refused.Detail, refused.Hint)
	}
	return err
}

// parameter spells a parameter.
func parameter(number int) string { return fmt.Sprintf("$%d", number) }
