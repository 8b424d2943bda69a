package mysql

import (
	"database/sql/driver"
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"

	"github.com/go-sql-driver/mysql"
)

// noSuchThread is the error where there is no such connection to end.
const noSuchThread = 1094

// session is a connection to the server.
type session struct{ *dbsql.Conn }

// connect connects to the server, without a database of the trial's own.
func connect(server *protocol.Server) (*session, error) {
	enter, err := dial(server)
	if err != nil {
		return nil, err
	}
	return enter()
}

// dial reads the configuration once, as a program does that connects often, and returns what connects.
func dial(server *protocol.Server) (func() (*session, error), error) {
	config, err := configOf(server)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", server.Host, err)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", server.Host, err)
	}
	return func() (*session, error) { return connectBy(connector, server.Host) }, nil
}

func connectBy(connector driver.Connector, host string) (*session, error) {
	conn, err := dbsql.Open(connector, bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w%s", host, err, advice(err))
	}
	session := &session{conn}
	// The server's own choice of collation for it, which the driver's may not be; and statements commit by
	// themselves, as in the other engines, unless a suite says otherwise.
	for _, sql := range []string{"SET NAMES utf8mb4", "SET SESSION autocommit = 1"} {
		if _, err := session.rows(sql); err != nil {
			conn.Close()
			return nil, fmt.Errorf("cannot connect to %s: %w", host, err)
		}
	}
	return session, nil
}

// rows executes a statement outside the clock and returns its rows.
func (s *session) rows(sql string) ([][]protocol.Value, error) {
	rows, err := s.Rows(sql)
	return rows, explain(err)
}

// value is the first value of a statement's first row as text; empty where there is none or a NULL.
func (s *session) value(sql string) (string, error) {
	rows, err := s.rows(sql)
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 || rows[0][0] == nil {
		return "", err
	}
	return fmt.Sprint(rows[0][0]), nil
}

// makeDatabase removes a database of the name, makes it and works in it from then on. Texts are in utf8mb4
// and compare by the engine's own rules for it (the setting collation_server where its character set is that
// one), which MySQL's users live with.
func (s *session) makeDatabase(name string) error {
	if err := s.dropDatabase(name); err != nil {
		return err
	}
	charset, err := s.value("SELECT @@character_set_server")
	if err != nil {
		return err
	}
	create := fmt.Sprintf("CREATE DATABASE `%s` CHARACTER SET utf8mb4", name)
	if charset == "utf8mb4" {
		collation, err := s.value("SELECT @@collation_server")
		if err != nil {
			return err
		}
		create += " COLLATE " + collation
	}
	if _, err := s.rows(create); err != nil {
		return explainDatabase(err, "make", name)
	}
	_, err = s.rows(fmt.Sprintf("USE `%s`", name))
	return err
}

// dropDatabase removes a database if it is there. Where a runner that was killed has left a statement
// running in it, that is ended first: it would hold the tables for as long as it runs.
func (s *session) dropDatabase(name string) error {
	list, err := s.rows("SHOW PROCESSLIST")
	for _, row := range list {
		if id, ok := row[0].(int64); ok && row[3] == name && err == nil {
			if _, err = s.rows(fmt.Sprintf("KILL %d", id)); number(err) == noSuchThread {
				err = nil
			}
		}
	}
	if err == nil {
		_, err = s.rows(fmt.Sprintf("DROP DATABASE IF EXISTS `%s`", name))
	}
	return explainDatabase(err, "remove", name)
}

func explainDatabase(err error, what, name string) error {
	switch {
	case err == nil:
		return nil
	case number(err) == databaseAccessDenied:
		return fmt.Errorf("cannot %s the database %s: %w; dyno works in a database of its own, so let an administrator "+
			"run: GRANT ALL ON `dyno\\_%%`.* TO the user", what, name, err)
	}
	return fmt.Errorf("cannot %s the database %s: %w", what, name, err)
}
