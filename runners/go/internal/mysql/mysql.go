// Package mysql reaches MariaDB and MySQL by github.com/go-sql-driver/mysql, through database/sql: its only
// use. One code path serves all engines that speak the protocol.
package mysql

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// The ways of loading: LOAD DATA LOCAL from memory, prepared inserts of many rows each, and one by one.
const (
	wayLoadData = "load-data"
	wayMultirow = "multirow"
	wayInsert   = "insert"
)

// The oldest versions that are served, of MariaDB and of others, and what the version of a MariaDB holds.
var (
	oldestMariaDB = [2]int{10, 2}
	oldest        = [2]int{5, 7}
)

const mariaDB = "-MariaDB"

// Database is the trial's database.
type Database struct {
	*session
	server *protocol.Server
	// enter connects to the trial's database.
	enter func() (*session, error)
	way   string
	// settings are in force in all of its sessions.
	settings *settings
	// joins says that another process has made the database, and will remove it.
	joins bool
}

// Open makes the trial's database.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	way, err := runner.VariantOf(job, wayLoadData, wayMultirow, wayInsert)
	if err != nil {
		return nil, nil, err
	}
	server, err := runner.ServerOf(job)
	if err != nil {
		return nil, nil, err
	}
	settings, err := parseSettings(job)
	if err != nil {
		return nil, nil, err
	}
	own := *server
	own.Database = server.Scratch
	enter, err := dial(&own)
	if err != nil {
		return nil, nil, err
	}
	first := enter
	if !job.Joins {
		first = func() (*session, error) { return connect(server) }
	}
	session, err := first()
	if err != nil {
		return nil, nil, err
	}
	database := &Database{
		session: session, server: server, enter: enter, way: way, settings: settings, joins: job.Joins,
	}
	hello, err := database.begin(job.Engine, settings)
	if err != nil {
		// The cause is told, and not that something could not be removed.
		_ = database.Close()
		return nil, nil, err
	}
	return database, hello, nil
}

// begin makes the database and introduces the server.
func (d *Database) begin(engine string, settings *settings) (*protocol.Hello, error) {
	version, err := d.value("SELECT version()")
	if err != nil {
		return nil, err
	}
	if err := checkVersion(engine, d.server.Version, version); err != nil {
		return nil, err
	}
	// The database is made by some of the settings.
	if err := settings.apply(d.session); err != nil {
		return nil, err
	}
	if !d.joins {
		if err := d.makeDatabase(d.server.Scratch); err != nil {
			return nil, err
		}
	}
	comment, err := d.value("SELECT @@version_comment")
	if err != nil {
		return nil, err
	}
	encryption := "none"
	if status, err := d.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'"); err == nil && len(status) > 0 && status[0][1] != "" {
		encryption = fmt.Sprint(status[0][1])
	}
	hello := &protocol.Hello{
		EngineVersion: short(version),
		DriverVersion: runner.ModuleVersion("github.com/go-sql-driver/mysql"),
		Build:         map[string][]string{"version": {version, comment}, "encryption": {encryption}},
	}
	hello.Settings, err = settings.inForce(d.session)
	return hello, err
}

// Close closes the connection and removes the database, unless the job keeps it.
func (d *Database) Close() error {
	// A new connection, because the old one may be lost or in the middle of anything. The server rolls back
	// what that has not committed.
	_ = d.session.Close()
	if d.joins || d.server.Keep {
		return nil
	}
	last, err := connect(d.server)
	if err != nil {
		return err
	}
	defer last.Close()
	return last.dropDatabase(d.server.Scratch)
}

// Reconnect closes the connection and goes on by another, with the settings in force.
func (d *Database) Reconnect() error {
	if err := d.session.Close(); err != nil {
		return explain(err)
	}
	another, err := d.another()
	if err == nil {
		d.session = another
	}
	return err
}

// checkVersion refuses a server that is not the engine that was asked for, because those that speak the protocol
// have drifted apart, and one that is too old.
func checkVersion(engine string, rule protocol.VersionRule, version string) error {
	if !rule.Allows(version) {
		return fmt.Errorf("the server is %s, not %s: name the engine that it is, or another server", short(version), engine)
	}
	numbers := regexp.MustCompile(`^(\d+)\.(\d+)`).FindStringSubmatch(version)
	if numbers == nil {
		return fmt.Errorf("the server tells its version as '%s', which has no number", version)
	}
	major, _ := strconv.Atoi(numbers[1])
	minor, _ := strconv.Atoi(numbers[2])
	first := oldest
	if strings.Contains(version, mariaDB) {
		first = oldestMariaDB
	}
	if major < first[0] || major == first[0] && minor < first[1] {
		return fmt.Errorf("the server is %s %s, and dyno works with version %d.%d and later", engine, short(version), first[0], first[1])
	}
	return nil
}

// short is 10.11.19-MariaDB-0+deb12u1 without what a distribution adds.
func short(version string) string {
	if before, _, found := strings.Cut(version, mariaDB); found {
		return before + mariaDB
	}
	return version
}

// bytes adds what the driver hands over as it came, by the type of the column.
func bytes(value []byte, kind string, answer *runner.Answer) {
	switch kind {
	case "DECIMAL":
		runner.Number(value, answer)
	case "BLOB", "BINARY", "VARBINARY", "BIT", "GEOMETRY":
		answer.Blob(value)
	default:
		answer.TextBytes(value)
	}
}

func (d *Database) Statements(list *runner.StatementList, from, to int, answer *runner.Answer) error {
	return explain(d.Conn.Statements(list, from, to, answer))
}

func (d *Database) Query(sql string, answer *runner.Answer) error {
	return explain(d.Conn.Query(sql, answer))
}

func (d *Database) Changes() (int, error) { return d.Changed(), nil }

// DatabaseBytes is the files of the trial's tables, as far as the server tells. InnoDB's come from its list
// of files, which takes a privilege; its statistics, which need none, lag behind.
func (d *Database) DatabaseBytes() (int64, error) {
	const tables = "SELECT coalesce(sum(data_length + index_length), 0) FROM information_schema.tables WHERE table_schema = database()"
	for _, list := range []string{"innodb_sys_tablespaces", "innodb_tablespaces"} {
		size, err := d.value(fmt.Sprintf("SELECT (SELECT coalesce(sum(file_size), 0) FROM information_schema.%s "+
			`WHERE name LIKE concat(replace(database(), '_', '\_'), '/%%')) + (%s AND engine <> 'InnoDB')`, list, tables))
		if err == nil {
			return strconv.ParseInt(size, 10, 64)
		}
		if number(err) == 0 {
			return 0, err
		}
		// No such list, or no privilege.
	}
	size, err := d.value(tables)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(size, 10, 64)
}
