package protocol

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Job is one trial of one contender.
type Job struct {
	Protocol int    `json:"protocol"`
	Engine   string `json:"engine"`
	// Speaks is the protocol that the engine speaks; empty for engines within the runner.
	Speaks  string `json:"speaks"`
	Driver  string `json:"driver"`
	Variant string `json:"variant"`
	Build   Build  `json:"build"`
	// Settings are those that the driver takes by its own calls.
	Settings []Setting `json:"settings"`
	// OnConnect is what every connection executes before anything else; each is named after its setting.
	OnConnect []Statement `json:"on_connect"`
	// ReadBack are queries whose rows are sent as they are; of engines without SQL the names of settings.
	ReadBack []Query `json:"read_back"`
	// DatabaseBytes are queries for the size of the database: the first that is not refused counts.
	DatabaseBytes []string `json:"database_bytes"`
	Server        *Server  `json:"server"`
	// Maintenance makes the trial's database on a server and removes it; nil where it is there already.
	Maintenance *Maintenance `json:"maintenance"`
	Directory   string       `json:"directory"`
	Latency     bool         `json:"latency"`
	// AnswersOnly says that the database is there, and that each test is only asked for its answer.
	AnswersOnly bool `json:"answers_only"`
	// Turns says whether tests are done in slices, each of them when a line says so.
	Turns bool `json:"turns"`
	// Slowdown is the share by which timed sections are to be slower than they are.
	Slowdown float64 `json:"slowdown"`
	Tests    []Test  `json:"tests"`
}

// HasParts says whether the clients of this process are some of several processes in a mix: lines follow the job.
func (j *Job) HasParts() bool {
	return slices.ContainsFunc(j.Tests, func(test Test) bool { return test.Mix.Part != nil })
}

// Joins says whether another process of this runner has the database open: it is opened as it is, and nothing is made
// or removed.
func (j *Job) Joins() bool {
	return slices.ContainsFunc(j.Tests, func(test Test) bool { return test.Mix.Part != nil && test.Mix.Part.Before > 0 })
}

// ClientOrder is a line of standard input after the job: "clock", "begin" at a moment of the runner's own clock, or
// "go-on".
type ClientOrder struct {
	Order string `json:"order"`
	AtNS  int64  `json:"at_ns"`
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

// Server says how to reach a server, and the database of the trial.
type Server struct {
	// Host is a name or address; or an absolute path: PostgreSQL's folder of sockets, MySQL's socket.
	Host string `json:"host"`
	// Port is 0 for the engine's usual one.
	Port uint16 `json:"port"`
	User string `json:"user"`
	// Password is nil where none is needed.
	Password *Secret `json:"password"`
	// Database is that of every connection but those of the maintenance; empty where the engine needs none.
	Database string            `json:"database"`
	Options  map[string]string `json:"options"`
	// Process is the server's main process where it may be looked at, else 0.
	Process int `json:"process"`
	// FurtherProcesses is the main processes of all other nodes of a cluster.
	FurtherProcesses []int `json:"further_processes"`
	// Further is the hosts of the other nodes of a cluster.
	Further []string `json:"further"`
}

// Maintenance is statements for a separate connection.
type Maintenance struct {
	// Database is that of the connection; empty where the engine needs none.
	Database string `json:"database"`
	// Before is executed before the database of the trial is connected to, After when all other connections are closed.
	Before []Statement `json:"before"`
	After  []Statement `json:"after"`
}

// Statement is executed outside the clock.
type Statement struct {
	// Name is the setting that it sets, or what it does in a maintenance.
	Name string `json:"name"`
	SQL  string `json:"sql"`
	// Ignores are codes of errors that do not matter; "*" is any.
	Ignores []string `json:"ignores"`
	// Each says that it is a query, and that the first value of each row is a statement to execute.
	Each bool `json:"each"`
}

// Query is a query whose rows are reported under a name.
type Query struct {
	Name  string `json:"name"`
	Query string `json:"query"`
}

// Secret is a password or a key. Formatting it never prints it.
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
