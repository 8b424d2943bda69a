package mysql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// unknownVariable is the error where there is no variable of that name.
const unknownVariable = 1193

// wrongType is the error where a text was given for a number.
const wrongType = 1232

// notHere are errors where the variable is the whole server's, can only be read, or is set by
// administrators. That it is not in force as asked is for dyno to report.
var notHere = []uint16{1227, 1228, 1229, 1238, 3530}

// isName is a name that can stand in a statement: letters, digits, _, and dots between parts.
var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// settings are those of a job: any system variable. What is not in force already is set for the session, if
// the server lets it be. All are read back after that; dyno compares, and cannot know that 128M and
// 134217728 are one value: so a value that means the one asked for is reported in the spelling in which it was
// asked.
type settings struct {
	asked []protocol.Setting
	// own are those of them that each session sets for itself, because the server does not have them in force; nil
	// until the first session has found out.
	own *[]protocol.Setting
	// readBack is what is read back though it was not asked for.
	readBack []string
}

// parseSettings refuses what cannot be a setting of MySQL.
func parseSettings(job *protocol.Job) (*settings, error) {
	for _, setting := range job.Settings {
		if !isName.MatchString(setting.Name) {
			return nil, fmt.Errorf("'%s' cannot be a setting of MySQL: it is not the name of a system variable", setting.Name)
		}
		if strings.ContainsRune(setting.Value, 0) {
			return nil, fmt.Errorf("the value of the setting '%s' holds a NUL byte", setting.Name)
		}
	}
	return &settings{asked: job.Settings, readBack: job.ReadBack}, nil
}

// apply sets what is not in force yet, for this session only. The first session, before there are clients, finds out
// what that is: to ask again would cost each of the others what no program does.
func (s *settings) apply(session *session) error {
	if s.own != nil {
		for _, setting := range *s.own {
			if err := set(session, setting); err != nil {
				return fmt.Errorf("the server refuses the setting '%s': %w", setting.Name, err)
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
		if means(setting.Value, found) {
			continue
		}
		switch err := set(session, setting); {
		case err == nil:
			own = append(own, setting)
		case !slices.Contains(notHere, number(err)):
			return fmt.Errorf("the server refuses the setting '%s': %w", setting.Name, err)
		}
	}
	s.own = &own
	return nil
}

// set sets a variable to a text or, if it takes none, to a number.
func set(session *session, setting protocol.Setting) error {
	text := strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(setting.Value)
	_, err := session.rows(fmt.Sprintf("SET SESSION %s = '%s'", setting.Name, text))
	if number(err) == wrongType {
		if amount, ok := amount(setting.Value); ok {
			_, err = session.rows(fmt.Sprintf("SET SESSION %s = %d", setting.Name, amount))
		}
	}
	return err
}

// inForce reads back what was asked for and what the job wants read back.
func (s *settings) inForce(session *session) ([]protocol.Setting, error) {
	var found []protocol.Setting
	told := map[string]bool{}
	// Of a setting named twice the last is in force.
	for _, setting := range slices.Backward(s.asked) {
		if told[setting.Name] {
			continue
		}
		told[setting.Name] = true
		value, err := show(session, setting.Name)
		if err != nil {
			return nil, err
		}
		if !means(setting.Value, value) {
			setting.Value = value
		}
		found = append(found, setting)
	}
	slices.Reverse(found)
	for _, name := range s.readBack {
		if told[name] {
			continue
		}
		value, err := session.value("SELECT @@" + name)
		switch {
		case err == nil:
			found = append(found, protocol.Setting{Name: name, Value: value})
		case number(err) == 0:
			return nil, fmt.Errorf("cannot read the settings back: %w", err)
		}
		// What a server that has no such variable refuses is left out.
	}
	return found, nil
}

// show is the value of a setting in the server's own spelling.
func show(session *session, name string) (string, error) {
	value, err := session.value("SELECT @@" + name)
	switch {
	case number(err) == unknownVariable:
		return "", fmt.Errorf("unknown setting '%s' (see https://mariadb.com/kb/en/server-system-variables/ or "+
			"https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html, or leave it out): %w", name, err)
	case err != nil:
		return "", fmt.Errorf("the server does not tell its setting '%s': %w", name, err)
	}
	return value, nil
}

// means says whether a value found is the one asked for.
func means(asked, found string) bool {
	if strings.EqualFold(asked, found) {
		return true
	}
	if first, ok := isOn(asked); ok {
		if second, ok := isOn(found); ok && first == second {
			return true
		}
	}
	first, firstOK := amount(asked)
	second, secondOK := amount(found)
	return firstOK && secondOK && first == second
}

// isOn reads a switch, of which the server's variables read as 1 or as ON.
func isOn(value string) (on, ok bool) {
	switch strings.ToLower(value) {
	case "on", "true", "1":
		return true, true
	case "off", "false", "0":
		return false, true
	}
	return false, false
}

// amount reads a number with the suffixes that the server takes on its command line: K, M, G, T for powers
// of 1024.
func amount(value string) (int64, bool) {
	factor := int64(1)
	if value != "" {
		if power := strings.IndexByte("kmgt", value[len(value)-1]|0x20); power >= 0 {
			factor <<= 10 * (power + 1)
			value = value[:len(value)-1]
		}
	}
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || number != 0 && number*factor/number != factor {
		return 0, false
	}
	return number * factor, true
}
