// Package sqlite is what all drivers of SQLite in Go have in common: settings, identity, the place of the
// database, and the work of those that stand behind database/sql.
package sqlite

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// databases are the places where data can live: in a file in the job's folder; in memory; in a file
// without a name, which goes away with the connection.
var databases = []string{"file", ":memory:", "temporary"}

// isName is a name that can stand in a statement as it is.
var isName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// Asker executes a statement outside the clock and returns its rows.
type Asker func(sql string) ([][]protocol.Value, error)

// Settings are those of a job: any PRAGMA that SQLite can read back, and `database`, which says where the
// data lives.
type Settings struct {
	// Database is where the data is to live, one of databases.
	Database string
	// joins says that another process has the database open.
	joins bool
	// pragmas are in the order in which they are to be applied.
	pragmas []protocol.Setting
	// readBack is what is read back though it was not asked for.
	readBack []string
	// values are the names of numbers that SQLite reads back, by setting.
	values map[string][]string
}

// ParseSettings takes the settings asked for apart and refuses what cannot be a setting of SQLite.
func ParseSettings(job *protocol.Job) (*Settings, error) {
	settings := &Settings{Database: "file", joins: job.Joins, readBack: job.ReadBack, values: job.Values}
	for _, setting := range job.Settings {
		if setting.Name == "database" {
			if !slices.Contains(databases, setting.Value) {
				return nil, fmt.Errorf("the setting 'database' is one of %s, not '%s'", strings.Join(databases, ", "), setting.Value)
			}
			settings.Database = setting.Value
			continue
		}
		if !isName.MatchString(setting.Name) {
			return nil, fmt.Errorf("'%s' cannot be a setting of SQLite: it is not the name of a PRAGMA in small letters", setting.Name)
		}
		if strings.ContainsRune(setting.Value, 0) {
			return nil, fmt.Errorf("the value of the setting '%s' holds a NUL byte", setting.Name)
		}
		if names, ok := job.Values[setting.Name]; ok && !isNamed(names, setting.Value) {
			return nil, fmt.Errorf("SQLite's setting '%s' is one of %s, not '%s'", setting.Name, strings.Join(names, ", "), setting.Value)
		}
		settings.pragmas = append(settings.pragmas, setting)
	}
	sort.SliceStable(settings.pragmas, func(i, j int) bool {
		return turn(settings.pragmas[i].Name) < turn(settings.pragmas[j].Name)
	})
	return settings, nil
}

// Apply applies all of them.
func (s *Settings) Apply(ask Asker) error {
	for _, pragma := range s.pragmas {
		// As a string, so that the value can be nothing but a value. PRAGMAs take numbers so too.
		sql := fmt.Sprintf("PRAGMA %s='%s'", pragma.Name, strings.ReplaceAll(pragma.Value, "'", "''"))
		if _, err := ask(sql); err != nil {
			return fmt.Errorf("SQLite refuses the setting '%s': %w", pragma.Name, err)
		}
	}
	return nil
}

// InForce reads back what was asked for and what the job wants read back. All are read after all are applied,
// because one may undo another; dyno compares.
func (s *Settings) InForce(ask Asker) ([]protocol.Setting, error) {
	place, err := s.databaseInForce(ask)
	if err != nil {
		return nil, err
	}
	settings := []protocol.Setting{place}
	told := map[string]bool{}
	asked := map[string]bool{}
	names := slices.Clone(s.readBack)
	for _, pragma := range s.pragmas {
		names = append(names, pragma.Name)
		asked[pragma.Name] = true
	}
	for _, name := range names {
		if told[name] {
			continue
		}
		told[name] = true
		value, found, err := s.told(ask, name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("SQLite does not tell its setting '%s': %w", name, err)
		case found:
			settings = append(settings, protocol.Setting{Name: name, Value: value})
		case asked[name]:
			return nil, fmt.Errorf("SQLite has no setting '%s' that can be read back from this database: see "+
				"https://sqlite.org/pragma.html, or leave it out", name)
		}
	}
	return settings, nil
}

// databaseInForce is where the data lives. SQLite reports whether there is a file with a name; of the other
// two it is the one asked for.
func (s *Settings) databaseInForce(ask Asker) (protocol.Setting, error) {
	rows, err := ask("PRAGMA database_list")
	if err != nil {
		return protocol.Setting{}, err
	}
	found := s.Database
	for _, row := range rows {
		if len(row) > 2 && row[1] == "main" {
			hasName := row[2] != nil && row[2] != ""
			if !hasName && s.Database == "file" {
				return protocol.Setting{}, fmt.Errorf("SQLite opened no file where a file was asked for")
			}
			if hasName {
				found = "file"
			}
		}
	}
	return protocol.Setting{Name: "database", Value: found}, nil
}

// turn is when a setting is applied: what shapes the file must be set before it has a page; how it is
// locked decides how the journal is kept; the journal must be there before what depends on it.
func turn(name string) int {
	switch name {
	case "page_size", "auto_vacuum", "encoding":
		return 0
	case "locking_mode":
		return 1
	case "journal_mode":
		return 2
	}
	return 3
}

// isNamed says whether a value is meant by its name or its number. SQLite takes any other for some value
// of its own.
func isNamed(names []string, value string) bool {
	for number, name := range names {
		if strings.EqualFold(value, name) || value == strconv.Itoa(number) {
			return true
		}
	}
	return false
}

func (s *Settings) told(ask Asker, name string) (string, bool, error) {
	rows, err := ask("PRAGMA " + name)
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 {
		return "", false, err
	}
	value := fmt.Sprint(rows[0][0])
	if number, err := strconv.Atoi(value); err == nil && number >= 0 && number < len(s.values[name]) {
		value = s.values[name][number]
	}
	return value, true, nil
}
