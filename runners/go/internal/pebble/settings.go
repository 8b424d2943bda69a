package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"sort"
	"strings"

	"dyno/runners/go/internal/protocol"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Settings of dyno's own: whether a commit waits until it is synced, and whether the files are in memory.
// All others are options of Pebble's by their names in its OPTIONS file, with values as they stand there.
const (
	syncName     = "sync"
	inMemoryName = "in_memory"
)

// levelOptions are options that each level of the tree has; they are set for all alike.
var levelOptions = []string{"block_restart_interval", "block_size", "block_size_threshold", "compression", "filter_policy", "index_block_size"}

// isOption is what the name of an option looks like.
var isOption = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// settings are those of a job.
type settings struct {
	sync, inMemory bool
	asked          []protocol.Setting
	// readBack is what is reported though it was not asked for.
	readBack []string
	options  *pebble.Options
}

// names are those of settings to read back.
func names(queries []protocol.Query) (names []string) {
	for _, query := range queries {
		names = append(names, query.Name)
	}
	return names
}

// parseSettings makes options of the settings asked for and refuses what Pebble does not know.
func parseSettings(job *protocol.Job) (*settings, error) {
	s := &settings{sync: true, asked: job.Settings, readBack: names(job.ReadBack)}
	var common, levels strings.Builder
	for _, setting := range job.Settings {
		var err error
		switch {
		case setting.Name == syncName:
			s.sync, err = isOn(setting)
		case setting.Name == inMemoryName:
			s.inMemory, err = isOn(setting)
		case !isOption.MatchString(setting.Name) || strings.ContainsAny(setting.Value, "\n\r\x00"):
			err = fmt.Errorf("'%s' cannot be a setting of Pebble: it is not an option with a value of one line", setting.Name)
		case slices.Contains(levelOptions, setting.Name):
			fmt.Fprintf(&levels, "  %s=%s\n", setting.Name, setting.Value)
		default:
			fmt.Fprintf(&common, "  %s=%s\n", setting.Name, setting.Value)
		}
		if err != nil {
			return nil, err
		}
	}
	text := "[Options]\n" + common.String()
	for level := range len(pebble.Options{}.Levels) {
		text += fmt.Sprintf("\n[Level \"%d\"]\n%s", level, levels.String())
	}
	// The manual recommends to name a version of the format: for files that no older program reads, the newest.
	s.options = &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: logger{}}
	if err := s.options.Parse(text, &pebble.ParseHooks{NewFilterPolicy: filterPolicy}); err != nil {
		return nil, fmt.Errorf("Pebble refuses a setting: %w (see the fields of Options at "+
			"https://pkg.go.dev/github.com/cockroachdb/pebble/v2#Options)", err)
	}
	s.options.FS = vfs.Default
	if s.inMemory {
		s.options.FS = vfs.NewMem()
	}
	return s, nil
}

// filterPolicy is the filter of a name in an OPTIONS file; of a Bloom filter, the usual one of ten bits a key.
func filterPolicy(name string) (pebble.FilterPolicy, error) {
	switch name {
	case pebble.NoFilterPolicy.Name():
		return pebble.NoFilterPolicy, nil
	case bloom.FilterPolicy(10).Name():
		return bloom.FilterPolicy(10), nil
	}
	return nil, fmt.Errorf("the setting 'filter_policy' is one of %s, %s, not '%s'", pebble.NoFilterPolicy.Name(),
		bloom.FilterPolicy(10).Name(), name)
}

// inForce reads the options back from the file that Pebble has written, and reports dyno's own, what was
// asked for and what the job wants read back.
func (s *settings) inForce(folder string) ([]protocol.Setting, error) {
	found, err := s.written(folder)
	if err != nil {
		return nil, fmt.Errorf("cannot read Pebble's OPTIONS file back: %w", err)
	}
	found[syncName], found[inMemoryName] = fmt.Sprint(s.sync), fmt.Sprint(s.inMemory)
	var known []protocol.Setting
	for _, name := range append([]string{syncName, inMemoryName}, s.readBack...) {
		if value, ok := found[name]; ok {
			known = append(known, protocol.Setting{Name: name, Value: value})
		}
	}
	for _, setting := range s.asked {
		if !slices.ContainsFunc(known, func(one protocol.Setting) bool { return one.Name == setting.Name }) {
			value, ok := found[setting.Name]
			if !ok {
				return nil, fmt.Errorf("Pebble's OPTIONS file does not have the setting '%s': leave it out", setting.Name)
			}
			known = append(known, protocol.Setting{Name: setting.Name, Value: value})
		}
	}
	for i := range known {
		known[i].Value = s.asAsked(known[i])
	}
	return known, nil
}

// asAsked is a switch in the spelling in which it was asked.
func (s *settings) asAsked(found protocol.Setting) string {
	for _, setting := range s.asked {
		if setting.Name == found.Name && (found.Value == "true" || found.Value == "false") {
			if on, err := isOn(setting); err == nil && fmt.Sprint(on) == found.Value {
				return setting.Value
			}
		}
	}
	return found.Value
}

// written is the options of the newest OPTIONS file by their names; of levels, those of the last.
func (s *settings) written(folder string) (map[string]string, error) {
	names, err := s.options.FS.List(folder)
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	options := map[string]string{}
	for _, name := range names {
		if !strings.HasPrefix(name, "OPTIONS-") {
			continue
		}
		text, err := s.read(s.options.FS.PathJoin(folder, name))
		// Pebble removes the file of an earlier opening meanwhile.
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if name, value, found := strings.Cut(strings.TrimSpace(line), "="); found {
				options[name] = value
			}
		}
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("there is none in %s", folder)
	}
	return options, nil
}

func (s *settings) read(path string) (string, error) {
	file, err := s.options.FS.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	text := make([]byte, info.Size())
	_, err = file.ReadAt(text, 0)
	return string(text), err
}

func isOn(setting protocol.Setting) (bool, error) {
	switch strings.ToLower(setting.Value) {
	case "true", "on":
		return true, nil
	case "false", "off":
		return false, nil
	}
	return false, fmt.Errorf("the setting '%s' is true or false, not '%s'", setting.Name, setting.Value)
}
