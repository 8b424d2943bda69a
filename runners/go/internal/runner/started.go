package runner

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// StartedWith is what a server has in force of the settings asked for and of those to read back. Those that the driver knows
// are as it says, and the others are the options of the server's process, by their names with underscores. The page lists
// the options.
func StartedWith(job *protocol.Job, known []protocol.Setting, page string) ([]protocol.Setting, error) {
	values, err := optionsOf(job.Server.Process)
	if err != nil {
		return nil, fmt.Errorf("cannot read with which options %s was started: %w", job.Engine, err)
	}
	for _, setting := range known {
		values[setting.Name] = setting.Value
	}
	inForce := []protocol.Setting{}
	report := func(name string) bool {
		value, found := values[name]
		isNew := !slices.ContainsFunc(inForce, func(one protocol.Setting) bool { return one.Name == name })
		if found && isNew {
			inForce = append(inForce, protocol.Setting{Name: name, Value: value})
		}
		return found
	}
	for _, setting := range job.Settings {
		if !report(setting.Name) {
			return nil, fmt.Errorf("%s was not started with the setting '%s': it is one of the options at %s, with "+
				"underscores, or leave it out", job.Engine, setting.Name, page)
		}
	}
	for _, query := range job.ReadBack {
		report(query.Name)
	}
	return inForce, nil
}

// optionsOf are the options of a process by their names with underscores; of one that is named twice the last.
func optionsOf(process int) (map[string]string, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", process))
	if err != nil {
		return nil, err
	}
	options := map[string]string{}
	for _, argument := range strings.Split(string(line), "\x00") {
		option, isOption := strings.CutPrefix(argument, "--")
		if name, value, found := strings.Cut(option, "="); isOption && found {
			options[strings.ReplaceAll(name, "-", "_")] = value
		}
	}
	return options, nil
}
