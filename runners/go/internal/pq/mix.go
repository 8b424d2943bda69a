package pq

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/postgres"
	"dyno/runners/go/internal/runner"
)

// engine says how clients work. Their transactions are prepared statements too, as pgbench has them.
var engine = dbsql.Engine{Parameter: parameter, BeginWrite: "BEGIN", Literal: literal, Explain: explain, MayPass: postgres.MayPass, Codes: postgres.Codes}

// literal spells a value as SQL: of a text as the driver's QuoteLiteral does.
func literal(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "NULL", nil
	case int64:
		// Parentheses keep "-:n" from becoming a comment where n is negative.
		return fmt.Sprintf("(%d)", value), nil
	case float64:
		return fmt.Sprintf("(%s)", strconv.FormatFloat(value, 'e', -1, 64)), nil
	case string:
		if strings.ContainsRune(value, 0) {
			return "", errors.New("a value holds a NUL byte, which no statement can have in its text")
		}
		return pq.QuoteLiteral(value), nil
	case []byte:
		return fmt.Sprintf(`'\x%x'::bytea`, value), nil
	}
	return "", fmt.Errorf("a value of the type %T has no literal: this is an error in the runner", value)
}

// Session is the session of a client.
func (d *Database) Session(client int) (runner.Session, error) {
	if client == 0 {
		return dbsql.NewSession(d.conn, engine, false), nil
	}
	return d.Connect()
}

// Connect is the session of a client that comes for a while.
func (d *Database) Connect() (runner.Session, error) {
	another, err := d.trial.Another()
	if err != nil {
		return nil, err
	}
	return dbsql.NewSession(another.conn, engine, true), nil
}
