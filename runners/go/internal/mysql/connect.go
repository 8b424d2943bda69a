package mysql

import (
	"database/sql/driver"
	"fmt"

	"dyno/runners/go/internal/dbsql"
	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/go-sql-driver/mysql"
)

// session is a connection to the server.
type session struct{ *dbsql.Conn }

// dial reads the configuration once, as a program does that connects often, and returns what connects.
func dial(server *protocol.Server) (runner.Connect[*session], error) {
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
		if _, err := session.Rows(sql); err != nil {
			conn.Close()
			return nil, fmt.Errorf("cannot connect to %s: %w", host, err)
		}
	}
	return session, nil
}

// Rows executes a statement outside the clock and returns its rows.
func (s *session) Rows(sql string) ([][]protocol.Value, error) {
	rows, err := s.Conn.Rows(sql)
	return rows, explain(err)
}
