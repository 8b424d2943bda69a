package postgres

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"
)

const (
	// maintenance is the database that every PostgreSQL has for this purpose.
	maintenance = "postgres"
	// oldest is the oldest version that is served, as PostgreSQL numbers them.
	oldest = 100_000
	// withProviders is the first version that can be told whose collations are meant.
	withProviders = 150_000

	insufficientPrivilege = "42501"
)

// Scratch is the trial's own database on a server: made anew, worked in, and removed whatever happens.
type Scratch[S Session] struct {
	// Session is the connection to the database.
	Session S
	server  *protocol.Server
	dial    Dial[S]
	// enter connects to the database.
	enter Connect[S]
	// settings are in force in all of its sessions.
	settings *Settings
	// joins says that another process has made the database, and will remove it.
	joins bool
}

// Connect connects, each time anew and from any goroutine.
type Connect[S Session] func() (S, error)

// Dial is how a driver connects to a database of a server, worked out once.
type Dial[S Session] func(server *protocol.Server, database string) (Connect[S], error)

// Make removes a database of the name, makes it and connects to it; or joins those who work in it.
func Make[S Session](job *protocol.Job, settings *Settings, dial Dial[S]) (*Scratch[S], error) {
	scratch := &Scratch[S]{server: job.Server, dial: dial, settings: settings, joins: job.Joins}
	var err error
	if scratch.enter, err = scratch.to(job.Server.Scratch); err != nil {
		return nil, err
	}
	if scratch.joins {
		scratch.Session, err = scratch.enter()
		return scratch, err
	}
	if err := scratch.maintain(func(session Session) error { return create(session, job, settings.Locale) }); err != nil {
		return nil, err
	}
	if scratch.Session, err = scratch.enter(); err != nil {
		return nil, errors.Join(err, scratch.drop())
	}
	return scratch, nil
}

// Another is one more connection to the database, with the settings in force. Several goroutines may ask for one at the
// same time.
func (s *Scratch[S]) Another() (S, error) {
	session, err := s.enter()
	if err != nil {
		return session, err
	}
	if err := s.settings.Apply(session); err != nil {
		_ = session.Close()
		return session, err
	}
	return session, nil
}

// Reconnect closes the connection and opens another, with the settings in force.
func (s *Scratch[S]) Reconnect() error {
	if err := s.Session.Close(); err != nil {
		return err
	}
	session, err := s.Another()
	if err == nil {
		s.Session = session
	}
	return err
}

// Remove closes the connection and removes the database, unless the job keeps it.
func (s *Scratch[S]) Remove() error {
	// No database can be removed while somebody is connected to it. A connection that is lost does not
	// close well, and need not.
	_ = s.Session.Close()
	if s.joins || s.server.Keep {
		return nil
	}
	return s.drop()
}

func (s *Scratch[S]) drop() error {
	return s.maintain(func(session Session) error { return dropDatabase(session, s.server.Scratch) })
}

// maintain does some work in the database that exists in any case.
func (s *Scratch[S]) maintain(work func(Session) error) error {
	database := s.server.Database
	if database == "" {
		database = maintenance
	}
	connect, err := s.to(database)
	if err != nil {
		return err
	}
	session, err := connect()
	if err != nil {
		return err
	}
	defer session.Close()
	return work(session)
}

// to is how a database is connected to.
func (s *Scratch[S]) to(database string) (Connect[S], error) {
	connect, err := s.dial(s.server, database)
	if err != nil {
		return nil, CannotConnect(s.server, database, err)
	}
	return func() (S, error) {
		session, err := connect()
		if err != nil {
			return session, CannotConnect(s.server, database, err)
		}
		return session, nil
	}, nil
}

// create makes the database, from the template that nobody has changed. Texts are UTF-8 and compare by
// their bytes, whatever the server was set up with. Other systems that speak PostgreSQL's protocol have
// rules of their own.
func create(session Session, job *protocol.Job, locale Locale) error {
	server, engine, name := job.Server, job.Engine, job.Server.Scratch
	version, _, err := value(session, "SELECT version()")
	if err != nil {
		return fmt.Errorf("the server does not tell its version: %w", err)
	}
	if !server.Version.Allows(version) {
		return fmt.Errorf("the server is %s, not %s: name the engine that it is, or another server", version, engine)
	}
	sql := fmt.Sprintf(`CREATE DATABASE "%s"`, name)
	if strings.HasPrefix(version, "PostgreSQL") {
		text, _, err := value(session, "SHOW server_version_num")
		if err != nil {
			return err
		}
		number, _ := strconv.Atoi(text)
		if number < oldest {
			return fmt.Errorf("the server is PostgreSQL %d.%d, and dyno works with version 10 and later", number/10_000, number/100%100)
		}
		sql += fmt.Sprintf(" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE '%s' LC_CTYPE '%s'", quoted(locale.Collate), quoted(locale.Ctype))
		if number >= withProviders {
			sql += " LOCALE_PROVIDER libc"
		}
	}
	if err := dropDatabase(session, name); err != nil {
		return err
	}
	if _, err := session.Rows(sql); err != nil {
		if code(err) == insufficientPrivilege {
			return fmt.Errorf("cannot make the database %s: %w; dyno works in a database of its own, so let an "+
				"administrator run: ALTER ROLE \"%s\" CREATEDB", name, err, server.User)
		}
		return fmt.Errorf("cannot make the database %s: %w", name, err)
	}
	return nil
}

// dropDatabase removes a database if it is there. Where a runner that was killed has left a statement
// running in it, that is ended first: PostgreSQL would wait five seconds for it and then refuse.
func dropDatabase(session Session, name string) error {
	end := fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name)
	// What only speaks the protocol may not know how; if it is needed, the next statement fails.
	_, _ = session.Rows(end)
	if _, err := session.Rows(fmt.Sprintf(`DROP DATABASE IF EXISTS "%s"`, name)); err != nil {
		return fmt.Errorf("cannot remove the database %s: %w", name, err)
	}
	return nil
}

func quoted(text string) string { return strings.ReplaceAll(text, "'", "''") }
