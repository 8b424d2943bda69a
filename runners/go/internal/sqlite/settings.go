// Package sqlite is what all drivers of SQLite in Go have in common: settings, identity, the place of the
// database, and the work of those that stand behind database/sql.
package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// databases are the places where data can live: in a file in the job's folder; in memory; in a file
// without a name, which goes away with the connection.
var databases = []string{"file", ":memory:", "temporary"}

// Asker executes a statement outside the clock and returns its rows.
type Asker func(sql string) ([][]protocol.Value, error)

// Settings are those of a job: `database`, which says where the data lives, and the statements that set any PRAGMA.
type Settings struct {
	// Database is where the data is to live, one of databases.
	Database string
	// joins says that another process has the database open.
	joins     bool
	onConnect *runner.OnConnect
	// code is SQLite's code of an error, or 0.
	code func(error) int
	job  *protocol.Job
}

// ParseSettings reads the settings of a job.
func ParseSettings(job *protocol.Job, code func(error) int) (*Settings, error) {
	settings := &Settings{Database: "file", joins: job.Joins(), onConnect: runner.NewOnConnect(job), code: code, job: job}
	for _, setting := range job.Settings {
		switch {
		case setting.Name != "database":
			return nil, fmt.Errorf("sqlite/%s itself has no setting '%s'", job.Driver, setting.Name)
		case !slices.Contains(databases, setting.Value):
			return nil, fmt.Errorf("the setting 'database' is one of %s, not '%s'", strings.Join(databases, ", "), setting.Value)
		}
		settings.Database = setting.Value
	}
	return settings, nil
}

// Apply applies all of them.
func (s *Settings) Apply(ask Asker) error { return s.onConnect.Apply(s.sql(ask)) }

func (s *Settings) sql(ask Asker) runner.SQL {
	return runner.SQL{Rows: ask, Code: func(err error) string {
		if code := s.code(err); code != 0 {
			return fmt.Sprint(code)
		}
		return ""
	}}
}
