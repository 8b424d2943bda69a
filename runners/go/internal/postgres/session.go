// Package postgres is what the drivers of PostgreSQL in Go have in common:
// options of connections, and the words for what goes wrong.
package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// ServerError is what the server said of a statement that failed.
type ServerError struct {
	// Code is the five letters of the SQL standard and of PostgreSQL's manual, appendix A.
	Code string
	// Message is the message, with detail and hint if there are any.
	Message string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%s (PostgreSQL error %s)", e.Message, e.Code)
}

// Refused is what the server said, where it is that.
func Refused(code, message, detail, hint string) error {
	parts := []string{message}
	for _, part := range []string{detail, hint} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return &ServerError{code, strings.Join(parts, " ")}
}

// Lost says that there is no connection any more.
func Lost(err error) error {
	return fmt.Errorf("the connection to the server is lost: %w. If the server has crashed or was stopped, its log "+
		"says why", err)
}

// Code is that of a server's error, or empty.
func Code(err error) string {
	var refused *ServerError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// Codes is the SQLSTATE of a server's error.
func Codes(err error) []string { return []string{Code(err)} }

// MayPass says whether what failed so may succeed if it is tried again: it could not be put in an order with
// others, it was the victim of a deadlock, or a lock was not to be had.
func MayPass(err error) bool {
	switch Code(err) {
	case "40001", "40P01", "55P03":
		return true
	}
	return false
}

// Encryption says how a connection is encrypted.
func Encryption(connection runner.Connection) string {
	rows, err := connection.Rows("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl")
	if err != nil || len(rows) == 0 || rows[0][0] == nil {
		return "none"
	}
	return fmt.Sprint(rows[0][0])
}

// Common are the options of a URL that every driver in Go keeps.
var Common = []string{
	"application_name", "connect_timeout", "krbsrvname", "options", "passfile", "sslcert", "sslkey", "sslmode",
	"sslnegotiation", "sslrootcert", "sslsni", "target_session_attrs",
}

// Options are the words of a connection but the password, as drivers take them. Those of the user's URL
// come first, because of a word given twice the last counts: they cannot lead to another server or
// database. A word that the driver does not keep is an error: it would send it to the server as a setting of the
// session.
func Options(server *protocol.Server, driver string, known []string) (string, error) {
	// Without a mode a job asks for plain text, of every driver.
	words := map[string]string{"application_name": "dyno", "connect_timeout": "10", "sslmode": "disable"}
	for name, value := range server.Options {
		if !slices.Contains(known, name) {
			return "", fmt.Errorf("the URL has the option '%s', and a connection by %s has %s", name, driver,
				strings.Join(known, ", "))
		}
		words[name] = value
	}
	if server.Port != 0 {
		words["port"] = fmt.Sprint(server.Port)
	}
	words["host"], words["user"], words["dbname"] = server.Host, server.User, server.Database
	words["client_encoding"] = "UTF8"
	var text strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for name, value := range words {
		fmt.Fprintf(&text, "%s='%s' ", name, escape.Replace(value))
	}
	return text.String(), nil
}

// longestPath is the most bytes of a socket's path: one less than the kernel's sun_path.
const longestPath = 107

// full is what to do where a server has no connection left.
const full = "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections"

// CannotConnect says why not, and what to do about the usual reasons.
func CannotConnect(server *protocol.Server, err error) error {
	message := strings.Join(strings.Fields(err.Error()), " ")
	advice := ""
	for _, known := range [][2]string{
		{"password authentication failed", "; check user and password in the URL, PGPASSWORD or ~/.pgpass"},
		{"no such host", "; check the host's name in the URL"},
		{"no pg_hba.conf entry", "; the server's pg_hba.conf lets no one in from here by that name"},
		{"connection refused", "; is the server running, and does it listen there?"},
		{"no such file", "; is the server running, and does it listen there?"},
		{"does not exist", "; name a database and a user of the server in the URL"},
		{"too many clients", full},
		{"connection slots", full},
		{"too many connections for", "; the server accepts no more connections of this role or to this database: take fewer clients, or raise " +
			"the limit (ALTER ROLE or ALTER DATABASE … CONNECTION LIMIT)"},
		{"too many open files", "; the limit of open files is reached: take fewer clients, or raise it (ulimit -n)"},
	} {
		if strings.Contains(message, known[0]) {
			advice = known[1]
			break
		}
	}
	if strings.HasPrefix(server.Host, "/") && len(server.Host) > longestPath-len("/.s.PGSQL.65535") {
		advice = "; the path of the socket is too long: use a folder with a shorter name for it"
	}
	return fmt.Errorf("cannot connect to the database '%s' of %s: %s%s", server.Database, server.Host, message, advice)
}
