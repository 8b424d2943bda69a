package sqlite

import (
	"errors"
	"fmt"
	"time"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

const (
	// BeginWrite takes the write lock at once: a transaction that read first could not wait for it, since what
	// it has read may have changed meanwhile (https://www.sqlite.org/lang_transaction.html).
	BeginWrite = "BEGIN IMMEDIATE"

	codeError  = 1
	codeBusy   = 5
	codeLocked = 6
)

// session is a client, which waits for locks as long as the mix says.
type session struct {
	*dbsql.Session
	conn *dbsql.Conn
}

// Session is the session of a client.
func (d *Database) Session(client int) (runner.Session, error) {
	conn := d.conn
	if client > 0 {
		var err error
		if err = d.opening.settings.MayShare(); err != nil {
			return nil, err
		}
		if conn, err = dbsql.Open(d.opening.connector, nil); err != nil {
			return nil, fmt.Errorf("cannot open the database: %w", err)
		}
		if err := d.opening.settings.Apply(conn.Rows); err != nil {
			conn.Close()
			return nil, err
		}
	}
	code := d.opening.code
	engine := dbsql.Engine{
		Parameter:  dbsql.Question,
		BeginWrite: BeginWrite,
		MayPass:    func(err error) bool { return MayPass(code(err)) },
		Undone:     func(err error) bool { return IsUndone(code(err)) },
	}
	return &session{dbsql.NewSession(conn, engine, client > 0), conn}, nil
}

func (s *session) Prepare(mix *protocol.Mix) error {
	if _, err := s.conn.Rows(BusyTimeout(mix)); err != nil {
		return err
	}
	return s.Session.Prepare(mix)
}

// MayShare refuses more than one connection to a database that only one can have.
func (s *Settings) MayShare() error {
	if s.Database != "file" {
		return errors.New("a database that is not in a file is that of one connection alone")
	}
	return nil
}

// BusyTimeout is the statement by which a connection waits for locks as long as a mix says.
func BusyTimeout(mix *protocol.Mix) string {
	return fmt.Sprintf("PRAGMA busy_timeout = %d", time.Duration(mix.PatienceNS).Milliseconds())
}

// MayPass says of SQLite's code of an error whether what failed so may succeed if it is tried again. The
// lowest byte is the primary code.
func MayPass(code int) bool { return code&0xff == codeBusy || code&0xff == codeLocked }

// IsUndone says of the code with which a rollback failed whether there was no transaction: SQLite had undone
// it.
func IsUndone(code int) bool { return code&0xff == codeError }
