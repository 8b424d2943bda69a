package postgres

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// localeColumns are what is fixed when a database is made, with the columns of pg_database that hold it:
// SHOW has not known these since PostgreSQL 16.
var localeColumns = [][2]string{{"lc_collate", "datcollate"}, {"lc_ctype", "datctype"}}

// undefinedObject is the error's code where there is nothing of that name.
const undefinedObject = "42704"

// notHere are the errors' codes where only the server's start or its configuration can set it, or only an
// administrator. That it is not in force as asked is for dyno to report.
var notHere = []string{"55P02", "42501"}

// isName is a name that can stand in a statement: letters, digits, _, and dots between parts.
var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// Locale is the order of texts and the kinds of letters that a database has, fixed when it is made.
type Locale struct{ Collate, Ctype string }

// Settings are those of a job: any parameter of PostgreSQL, and lc_collate and lc_ctype of the trial's
// database. What is not in force already is set for the session, if the server lets it be. All are read
// back after that; dyno compares, and cannot know that 6GB and 6144MB are one value: so a value that means
// the one asked for is reported in the spelling in which it was asked.
type Settings struct {
	// Locale is what the database is to be made with.
	Locale Locale
	asked  []protocol.Setting
	// own are those of them that each session sets for itself, because the server does not have them in force; nil
	// until the first session has found out.
	own *[]protocol.Setting
	// readBack is what is read back though it was not asked for.
	readBack []string
}

// ParseSettings takes the settings asked for apart and refuses what cannot be a setting of PostgreSQL.
func ParseSettings(job *protocol.Job) (*Settings, error) {
	settings := &Settings{Locale: Locale{"C", "C"}, readBack: job.ReadBack}
	for _, setting := range job.Settings {
		if !isName.MatchString(setting.Name) {
			return nil, fmt.Errorf("'%s' cannot be a setting of PostgreSQL: it is not the name of a parameter", setting.Name)
		}
		if strings.ContainsRune(setting.Value, 0) {
			return nil, fmt.Errorf("the value of the setting '%s' holds a NUL byte", setting.Name)
		}
		switch setting.Name {
		case "lc_collate":
			settings.Locale.Collate = setting.Value
		case "lc_ctype":
			settings.Locale.Ctype = setting.Value
		default:
			settings.asked = append(settings.asked, setting)
		}
	}
	return settings, nil
}

// Apply sets what is not in force yet, for this session only. The first session, before there are clients, finds out
// what that is: to ask again would cost each of the others what no program does.
func (s *Settings) Apply(session Session) error {
	if s.own != nil {
		for _, setting := range *s.own {
			if _, err := set(session, setting); err != nil {
				return err
			}
		}
		return nil
	}
	own := []protocol.Setting{}
	for _, setting := range s.asked {
		found, err := show(session, setting.Name)
		if err != nil {
			return err
		}
		if means(session, setting, found) {
			continue
		}
		isSet, err := set(session, setting)
		if err != nil {
			return err
		}
		if isSet {
			own = append(own, setting)
		}
	}
	s.own = &own
	return nil
}

// set sets one for a session, and says whether the server let it.
func set(session Session, setting protocol.Setting) (bool, error) {
	_, err := session.Rows(fmt.Sprintf("SET %s = '%s'", identifier(setting.Name), quoted(setting.Value)))
	switch {
	case err == nil:
		return true, nil
	case slices.Contains(notHere, code(err)):
		return false, nil
	}
	return false, fmt.Errorf("PostgreSQL refuses the setting '%s': %w", setting.Name, err)
}

// InForce reads back what was asked for, what the job wants read back, and the locale.
func (s *Settings) InForce(session Session) ([]protocol.Setting, error) {
	var settings []protocol.Setting
	told := map[string]bool{}
	// Of a setting named twice the last is in force.
	for _, setting := range slices.Backward(s.asked) {
		if told[setting.Name] {
			continue
		}
		told[setting.Name] = true
		found, err := show(session, setting.Name)
		if err != nil {
			return nil, err
		}
		if !means(session, setting, found) {
			setting.Value = found
		}
		settings = append(settings, setting)
	}
	slices.Reverse(settings)
	ask := func(name, sql string) error {
		found, ok, err := value(session, sql)
		switch {
		case err != nil && code(err) == "":
			return fmt.Errorf("cannot read the settings back: %w", err)
		case err == nil && ok:
			settings = append(settings, protocol.Setting{Name: name, Value: found})
		}
		// What a server that has no such thing refuses is left out.
		return nil
	}
	for _, name := range s.readBack {
		if !told[name] {
			if err := ask(name, "SHOW "+identifier(name)); err != nil {
				return nil, err
			}
		}
	}
	for _, column := range localeColumns {
		if err := ask(column[0], fmt.Sprintf("SELECT %s FROM pg_database WHERE datname = current_database()", column[1])); err != nil {
			return nil, err
		}
	}
	return settings, nil
}

// identifier makes "work_mem" of work_mem and "a"."b" of a.b: so no name is taken for a word of the
// language.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, ".", `"."`) + `"` }

// show is the value of a setting in the server's own spelling.
func show(session Session, name string) (string, error) {
	found, _, err := value(session, "SHOW "+identifier(name))
	switch {
	case err != nil && code(err) == undefinedObject:
		return "", fmt.Errorf("unknown setting '%s' (see https://www.postgresql.org/docs/current/runtime-config.html, or "+
			"leave it out): %w", name, err)
	case err != nil:
		return "", fmt.Errorf("the server does not tell its setting '%s': %w", name, err)
	}
	return found, nil
}

// means says whether a value found is the one asked for.
func means(session Session, asked protocol.Setting, found string) bool {
	if strings.EqualFold(asked.Value, found) {
		return true
	}
	// What speaks the protocol and has no such view reports its values in their only spelling.
	unit, _, _ := value(session, fmt.Sprintf("SELECT unit FROM pg_settings WHERE lower(name) = lower('%s')", asked.Name))
	return areEqual(asked.Value, found, unit)
}
