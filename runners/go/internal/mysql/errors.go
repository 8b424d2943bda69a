package mysql

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"dyno/runners/go/internal/runner"

	"github.com/go-sql-driver/mysql"
)

// The numbers of errors that mean something: runners/mysql/errors.toml says what, with the manuals' pages.

// lost are errors after which there is no connection: the server has gone, was lost within a query, shuts down, has killed the
// connection or closed it as idle.
var lost = []uint16{2006, 2013, 1053, 1927, 3169, 4031}

// noLocal are errors where the server allows no LOAD DATA LOCAL.
var noLocal = []uint16{1148, 3948, 4166}

const databaseAccessDenied = 1044

// mayPass are errors after which another try may succeed: a deadlock, a lock that was not to be had in time or at once, a row
// that another transaction has changed.
var mayPass = []uint16{1213, 1205, 3572, 1020}

// number is that of a server's error, or 0.
func number(err error) uint16 {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return refused.Number
	}
	return 0
}

// code is the number of a server's error, or empty.
func code(err error) string {
	if number := number(err); number != 0 {
		return fmt.Sprint(number)
	}
	return ""
}

// codes are the number and the SQLSTATE of a server's error; none of one after which there is no connection.
func codes(err error) []string {
	var refused *mysql.MySQLError
	if !errors.As(err, &refused) || slices.Contains(lost, refused.Number) {
		return nil
	}
	return []string{fmt.Sprint(refused.Number), string(refused.SQLState[:])}
}

// explain rewords an error in common terms. It keeps the place of an operation.
func explain(err error) error {
	var failure *runner.Failure
	var refused *mysql.MySQLError
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return runner.At(failure.Index, explain(failure.Err))
	case slices.Contains(noLocal, number(err)):
		return fmt.Errorf("the server refuses LOAD DATA LOCAL: %w; let an administrator run SET GLOBAL local_infile = ON, "+
			"or load by another variant, as +multirow", err)
	case errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn), errors.As(err, &network),
		slices.Contains(lost, number(err)):
		return fmt.Errorf("the connection to the server is lost: %w. If the server has crashed or was stopped, its log "+
			"says why", err)
	case errors.As(err, &refused):
		return fmt.Errorf("%s (%w)", refused.Message, coded{refused})
	}
	return err
}

// coded is a server's error that shows its numbers only.
type coded struct{ error *mysql.MySQLError }

func (c coded) Error() string {
	return fmt.Sprintf("error %d, %s", c.error.Number, c.error.SQLState)
}

func (c coded) Unwrap() error { return c.error }

// advice is what to do about a connection that failed, for the usual reasons.
func advice(err error) string {
	switch number(err) {
	case 1045, 1698:
		return "; check user and password in the URL, MYSQL_PWD or ~/.my.cnf"
	case databaseAccessDenied, 1049:
		return "; name a database in the URL that the user may enter, or none"
	case 1040:
		return "; the server accepts no more connections: take fewer clients, close other connections, or raise its max_connections"
	case 1203:
		return "; the server accepts no more connections of one account: take fewer clients, or raise its max_user_connections"
	case 1226:
		return "; the account may do no more: take fewer clients, or raise its limit (ALTER USER … WITH MAX_USER_CONNECTIONS …)"
	}
	for _, known := range [][2]string{
		{"too many open files", "; the limit of open files is reached: take fewer clients, or raise it (ulimit -n)"},
		{"no such host", "; check the host's name in the URL"},
		{"connection refused", "; is the server running, and does it listen there?"},
		{"no such file", "; is the server running, and does it listen there?"},
		{"tls", "; check the options ssl-… of the URL"},
	} {
		if strings.Contains(strings.ToLower(err.Error()), known[0]) {
			return known[1]
		}
	}
	return ""
}
