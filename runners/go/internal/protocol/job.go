package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Job is one trial of one contender.
type Job struct {
	Protocol int    `json:"protocol"`
	Engine   string `json:"engine"`
	// Speaks is the protocol that the engine speaks; empty for engines within the runner.
	Speaks   string    `json:"speaks"`
	Driver   string    `json:"driver"`
	Variant  string    `json:"variant"`
	Build    Build     `json:"build"`
	Settings []Setting `json:"settings"`
	// ReadBack are the settings that are read back whether they are asked for or not, as far as the engine has
	// them.
	ReadBack []string `json:"read_back"`
	// Values are the names that the engine gives to numbers, by setting.
	Values    map[string][]string `json:"values"`
	Server    *Server             `json:"server"`
	Directory string              `json:"directory"`
	Latency   bool                `json:"latency"`
	// ReadAgain says whether the database is closed after the last test, opened again and compared.
	ReadAgain bool `json:"read_again"`
	// Turns says whether tests are done in slices, each of them when a line says so.
	Turns bool `json:"turns"`
	// Slowdown is the share by which timed sections are to be slower than they are.
	Slowdown float64 `json:"slowdown"`
	Tests    []Test  `json:"tests"`
	// Text is the job as dyno wrote it.
	Text []byte `json:"-"`
	// Joins says that another process of this runner has the database open: it is opened as it is, and nothing is made
	// or removed.
	Joins bool `json:"-"`
}

// Build says which library or server program of an engine: "bundled", "system" or "path".
type Build struct {
	Kind string
	// Path is the file or folder of a build of kind "path".
	Path string
}

// UnmarshalJSON reads "bundled", "system" or {"path": "…"}.
func (b *Build) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &b.Kind) == nil && (b.Kind == "bundled" || b.Kind == "system") {
		return nil
	}
	var path struct{ Path *string }
	if json.Unmarshal(text, &path) != nil || path.Path == nil {
		return fmt.Errorf("a build of another kind")
	}
	b.Kind, b.Path = "path", *path.Path
	return nil
}

// Setting is one setting asked for, or one in force, as the engine spells it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Server says how to reach a server and the one database on it that is the trial's own.
type Server struct {
	// Host is a name or address; or an absolute path: PostgreSQL's folder of sockets, MySQL's socket.
	Host string `json:"host"`
	// Port is 0 for the engine's usual one.
	Port uint16 `json:"port"`
	User string `json:"user"`
	// Password is nil where none is needed.
	Password *Secret `json:"password"`
	// Database is one that exists and in which nothing is changed; empty where the engine needs none.
	Database string `json:"database"`
	// Scratch is the name of the trial's own database.
	Scratch string `json:"scratch"`
	// Keep says whether that database stays when the runner ends.
	Keep    bool              `json:"keep"`
	Options map[string]string `json:"options"`
	// Version tells which servers are the engine's own.
	Version VersionRule `json:"version"`
	// Process is the server's main process where it may be looked at, else 0.
	Process int `json:"process"`
}

// VersionRule tells an engine's servers from others that speak the same protocol, by words of their version.
type VersionRule struct {
	// Holds are words that the version must hold, Lacks those that it must not.
	Holds []string `json:"holds"`
	Lacks []string `json:"lacks"`
}

// Allows says whether a version is that of one of the engine's own servers.
func (r VersionRule) Allows(version string) bool {
	holds := func(word string) bool { return strings.Contains(version, word) }
	return !slices.ContainsFunc(r.Lacks, holds) && !slices.ContainsFunc(r.Holds, func(word string) bool { return !holds(word) })
}

// Secret is a password or a key. It shows itself to nobody but who asks for it.
type Secret struct{ text string }

// UnmarshalJSON reads a text.
func (s *Secret) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &s.text) }

// Reveal is the secret itself, for the call that needs it.
func (s *Secret) Reveal() string {
	if s == nil {
		return ""
	}
	return s.text
}

// String hides the secret from messages.
func (s Secret) String() string { return "(secret)" }

// GoString hides the secret from messages.
func (s Secret) GoString() string { return "(secret)" }
