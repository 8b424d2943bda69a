// Package pq reaches PostgreSQL by github.com/lib/pq, through database/sql: its only use.
package pq

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/postgres"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/lib/pq"
)

// The ways of loading: COPY, and a prepared insert for each row.
const (
	wayCopy   = "copy"
	wayInsert = "insert"
)

// Database is the trial's database.
type Database struct {
	trial *runner.ServerTrial[*session]
	conn  *dbsql.Conn
	way   string
}

// session is a connection whose errors are reworded in common terms.
type session struct{ conn *dbsql.Conn }

// Open makes the trial's database.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	way, err := runner.VariantOf(job, wayCopy, wayInsert)
	if err != nil {
		return nil, nil, err
	}
	trial, hello, err := runner.OpenServer(job, runner.Client[*session]{
		Module:     "github.com/lib/pq",
		Dial:       connector,
		Code:       postgres.Code,
		Encryption: func(s *session) string { return postgres.Encryption(s) },
	})
	if err != nil {
		return nil, nil, err
	}
	return &Database{trial, trial.First.conn, way}, hello, nil
}

// known are the options of a URL that pq keeps.
var known = append([]string{
	"fallback_application_name", "ssl_max_protocol_version", "ssl_min_protocol_version",
}, postgres.Common...)

// connector reads the configuration once, as a program does that connects often.
func connector(server *protocol.Server) (runner.Connect[*session], error) {
	options, err := postgres.Options(server, "lib/pq", known)
	if err != nil {
		return nil, postgres.CannotConnect(server, err)
	}
	config, err := pq.NewConfig(options)
	if err != nil {
		return nil, postgres.CannotConnect(server, err)
	}
	if server.Password != nil {
		config.Password = server.Password.Reveal()
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, postgres.CannotConnect(server, err)
	}
	return func() (*session, error) {
		conn, err := dbsql.Open(connector, bytes)
		if err != nil {
			return nil, postgres.CannotConnect(server, explain(err))
		}
		return &session{conn}, nil
	}, nil
}

func (s *session) Rows(sql string) ([][]protocol.Value, error) {
	rows, err := s.conn.Rows(sql)
	return rows, explain(err)
}

func (s *session) Close() error { return s.conn.Close() }

// bytes adds what the driver hands over as it came: bytea, and the texts of types that it does not know.
func bytes(value []byte, kind string, answer *runner.Answer) {
	switch kind {
	case "BYTEA":
		answer.Blob(value)
	case "NUMERIC", "OID":
		runner.Number(value, answer)
	default:
		answer.TextBytes(value)
	}
}

func (d *Database) Close() error { return d.trial.Close() }

func (d *Database) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	return explain(d.conn.Statements(list, from, to, answer))
}

func (d *Database) Query(sql string, answer *runner.Answer) error {
	return explain(d.conn.Query(sql, answer))
}

func (d *Database) Changes() (int, error) { return d.conn.Changed(), nil }

func (d *Database) DatabaseBytes() (int64, error) { return d.trial.DatabaseBytes() }

// explain rewords an error in common terms. It keeps the place of an operation.
func explain(err error) error {
	var failure *runner.Failure
	if errors.As(err, &failure) {
		return runner.At(failure.Index, explain(failure.Err))
	}
	var refused *pq.Error
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && isEnd(refused):
		return postgres.Lost(errors.New(refused.Message))
	case errors.As(err, &refused):
		return postgres.Refused(string(refused.Code), refused.Message, refused.Detail, refused.Hint)
	case errors.Is(err, driver.ErrBadConn), errors.As(err, &network), strings.Contains(err.Error(), "EOF"):
		return postgres.Lost(err)
	}
	return err
}

// isEnd says whether the server has ended the connection: it was ordered to (class 57P), or met an error after
// which there is none.
func isEnd(refused *pq.Error) bool {
	code := string(refused.Code)
	return strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08") || refused.Severity == "PANIC"
}

// parameter spells a parameter.
func parameter(number int) string { return fmt.Sprintf("$%d", number) }
