package dbsql

import (
	"database/sql"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// Session is a client of a mix on a connection.
type Session struct {
	conn *Conn
	with Engine
	// own is whether the connection ends with the client.
	own                   bool
	statements            []statement
	beginRead, beginWrite *sql.Stmt
	commit, rollback      *sql.Stmt
}

// Engine is what the clients of an engine have in common.
type Engine struct {
	Parameter Parameter
	// BeginWrite begins a transaction that writes; one that reads is begun by BEGIN.
	BeginWrite string
	// IsText says whether the statements of transactions are sent as text: not every server prepares them.
	IsText bool
	// Literal spells a value as SQL, for the text of a statement that is not prepared; nil: such a statement is sent with
	// its parameters, as the driver does that without Prepare.
	Literal func(value any) (string, error)
	// Explain rewords an error in common terms; nil: as it is.
	Explain func(error) error
	// MayPass says whether what failed so may succeed if it is tried again.
	MayPass func(error) bool
	// Codes are those of an error, as a suite names errors.
	Codes func(error) []string
	// Undone says whether a rollback that failed so found no transaction, because the engine had undone it.
	Undone func(error) bool
}

// statement is what is executed, with what it is executed with.
type statement struct {
	// prepared is nil where it is not prepared beforehand.
	prepared *sql.Stmt
	// text is its text with placeholders, pieces what stands around them.
	text   string
	pieces []string
	// sources has for each parameter where its value comes from, values their values.
	sources []protocol.MixValue
	values  []any
	answers bool
}

// NewSession is a client on a connection, which is its own to close or not.
func NewSession(conn *Conn, with Engine, own bool) *Session {
	return &Session{conn: conn, with: with, own: own}
}

func (s *Session) Prepare(mix *protocol.Mix) error {
	err := runner.PrepareAll(mix, s.with.Parameter, func(one runner.Statement) error {
		own := statement{text: one.SQL, pieces: one.Text, sources: one.Parameters, values: make([]any, len(one.Parameters)),
			answers: runner.MayAnswer(one.SQL)}
		if !one.IsSimple {
			var err error
			if own.prepared, err = s.conn.Prepare(one.SQL); err != nil {
				return s.explain(err)
			}
		}
		s.statements = append(s.statements, own)
		return nil
	})
	if err != nil || s.with.IsText || runner.SendsText(mix) {
		return err
	}
	reads, writes := runner.Has(mix, protocol.Read), runner.Has(mix, protocol.Write)
	for _, one := range []struct {
		prepared **sql.Stmt
		text     string
		needed   bool
	}{
		{&s.beginRead, "BEGIN", reads}, {&s.beginWrite, s.with.BeginWrite, writes},
		{&s.commit, "COMMIT", reads || writes}, {&s.rollback, "ROLLBACK", reads || writes},
	} {
		if !one.needed {
			continue
		}
		if *one.prepared, err = s.conn.Prepare(one.text); err != nil {
			return s.explain(err)
		}
	}
	return nil
}

func (s *Session) Run(place int, values *runner.Values, answer *runner.Answer) error {
	one := &s.statements[place]
	values.Fill(one.sources, one.values)
	if one.prepared == nil {
		return s.explain(s.send(one, answer))
	}
	if !one.answers {
		_, err := one.prepared.ExecContext(background, one.values...)
		return s.explain(err)
	}
	rows, err := one.prepared.QueryContext(background, one.values...)
	if err == nil {
		err = s.conn.read(rows, answer)
	}
	return s.explain(err)
}

// send executes a statement that is not prepared beforehand.
func (s *Session) send(one *statement, answer *runner.Answer) error {
	text, values := one.text, one.values
	if s.with.Literal != nil {
		var filled strings.Builder
		filled.WriteString(one.pieces[0])
		for place, value := range values {
			literal, err := s.with.Literal(value)
			if err != nil {
				return err
			}
			filled.WriteString(literal)
			filled.WriteString(one.pieces[place+1])
		}
		text, values = filled.String(), nil
	}
	if !one.answers {
		_, err := s.conn.conn.ExecContext(background, text, values...)
		return err
	}
	rows, err := s.conn.conn.QueryContext(background, text, values...)
	if err != nil {
		return err
	}
	return s.conn.read(rows, answer)
}

func (s *Session) Begin(purpose protocol.Purpose) error {
	if purpose == protocol.Write {
		return s.command(s.beginWrite, s.with.BeginWrite)
	}
	return s.command(s.beginRead, "BEGIN")
}

func (s *Session) Commit() error { return s.command(s.commit, "COMMIT") }

func (s *Session) Rollback() error {
	err := s.command(s.rollback, "ROLLBACK")
	if err != nil && s.with.Undone != nil && s.with.Undone(err) {
		return nil
	}
	return err
}

// command executes a statement of transactions: a prepared one, or else a text.
func (s *Session) command(prepared *sql.Stmt, text string) (err error) {
	if prepared != nil {
		_, err = prepared.ExecContext(background)
	} else {
		_, err = s.conn.conn.ExecContext(background, text)
	}
	return s.explain(err)
}

func (s *Session) MayPass(err error) bool { return s.with.MayPass(err) }

// Codes are those of an error.
func (s *Session) Codes(err error) []string { return s.with.Codes(err) }

func (s *Session) Close() error {
	if s.own {
		// Its statements end with it.
		return s.conn.Close()
	}
	for i := range s.statements {
		// One that does not close fails when it is used, and it is used no more.
		if prepared := s.statements[i].prepared; prepared != nil {
			_ = prepared.Close()
		}
	}
	for _, one := range []*sql.Stmt{s.beginRead, s.beginWrite, s.commit, s.rollback} {
		if one != nil {
			_ = one.Close()
		}
	}
	return nil
}

func (s *Session) explain(err error) error {
	if err == nil || s.with.Explain == nil {
		return err
	}
	return s.with.Explain(err)
}
