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

// connector reads the configuration once, as a program does that connects often, and returns the function that connects.
func connector(server *protocol.Server) (runner.Connect[*session], error) {
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
	// SET NAMES makes the server use its default collation of utf8mb4; the driver may have asked for another one.
	// Autocommit is on, as in the other engines, unless a suite turns it off. One round trip: clients that come and go
	// take it each time.
	const sql = "SET NAMES utf8mb4, autocommit = 1"
	if _, err := session.Rows(sql); err != nil {
		conn.Close()
		return nil, fmt.Errorf("connected to %s, but '%s' failed: %w", host, sql, err)
	}
	return session, nil
}

// Rows executes a statement outside the clock and returns its rows.
func (s *session) Rows(sql string) ([][]protocol.Value, error) {
	rows, err := s.Conn.Rows(sql)
	return rows, explain(err)
}
