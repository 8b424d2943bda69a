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

	// patience is how long a new connection waits for a lock.
	patience = 10 * time.Second

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
	if client == 0 {
		return d.session(d.conn, false), nil
	}
	return d.Connect()
}

// Connect is the session of a client that comes for a while.
func (d *Database) Connect() (runner.Session, error) {
	if err := d.opening.settings.MayShare(); err != nil {
		return nil, err
	}
	conn, err := d.opening.another()
	if err != nil {
		return nil, err
	}
	return d.session(conn, true), nil
}

// StepAside does something while the database is closed: the last connection that goes copies the log into the database
// and removes it, which is a part of what short sessions pay.
func (d *Database) StepAside(meanwhile func()) error {
	if err := d.opening.settings.MayShare(); err != nil {
		return err
	}
	if err := d.Close(); err != nil {
		return err
	}
	d.store = nil
	meanwhile()
	conn, err := d.opening.another()
	if err == nil {
		d.conn = conn
	}
	return err
}

// another is one more connection to the database, with the settings in force.
func (o *opening) another() (*dbsql.Conn, error) {
	conn, err := dbsql.Open(o.connector, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot open the database: %w", err)
	}
	if err := o.settings.ApplyAmongOthers(conn.Rows); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// session is a client on a connection, which is its own to close or not.
func (d *Database) session(conn *dbsql.Conn, own bool) *session {
	code := d.opening.code
	engine := dbsql.Engine{
		Parameter:  dbsql.Question,
		BeginWrite: BeginWrite,
		MayPass:    func(err error) bool { return MayPass(code(err)) },
		Codes:      func(err error) []string { return Codes(code(err)) },
		Undone:     func(err error) bool { return IsUndone(code(err)) },
	}
	return &session{dbsql.NewSession(conn, engine, own), conn}
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

// ApplyAmongOthers applies the settings where others may be about to write, or to close the database: their locks are
// waited for.
func (s *Settings) ApplyAmongOthers(ask Asker) error {
	if _, err := ask(busyTimeout(patience)); err != nil {
		return err
	}
	return s.Apply(ask)
}

// BusyTimeout is the statement by which a connection waits for locks as long as the least patient class of a mix: the
// operations of others are tried again.
func BusyTimeout(mix *protocol.Mix) string {
	return busyTimeout(time.Duration(mix.ShortestPatience()))
}

func busyTimeout(patience time.Duration) string {
	return fmt.Sprintf("PRAGMA busy_timeout = %d", patience.Milliseconds())
}

// MayPass says of SQLite's code of an error whether what failed so may succeed if it is tried again. The
// lowest byte is the primary code.
func MayPass(code int) bool { return code&0xff == codeBusy || code&0xff == codeLocked }

// Codes are SQLite's extended and primary code of an error.
func Codes(code int) []string { return []string{fmt.Sprint(code), fmt.Sprint(code & 0xff)} }

// IsUndone says of the code with which a rollback failed whether there was no transaction: SQLite had undone
// it.
func IsUndone(code int) bool { return code&0xff == codeError }
