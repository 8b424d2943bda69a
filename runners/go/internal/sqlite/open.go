package sqlite

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// file is the database's name in the job's folder.
const file = "dyno.db"

// Prepare checks a job and reads its settings. It sets the folder of SQLite's temporary files, which
// belong on the file system that is measured.
func Prepare(job *protocol.Job, code func(error) int) (*Settings, error) {
	if job.Build.Kind != "bundled" {
		return nil, fmt.Errorf("sqlite/%s carries its own SQLite and has no build other than that", job.Driver)
	}
	settings, err := ParseSettings(job, code)
	if err != nil {
		return nil, err
	}
	return settings, os.Setenv("SQLITE_TMPDIR", job.Directory)
}

// Location is what SQLite calls the place of a database: a URI of a file, or a separate name.
func (s *Settings) Location(directory string) string {
	switch s.Database {
	case "file":
		place := url.URL{Scheme: "file", Path: filepath.Join(directory, file)}
		return place.String()
	case "temporary":
		// A URI of no file is a file without a name.
		return "file:"
	}
	return s.Database
}

// Greet applies the settings and introduces the engine.
func (s *Settings) Greet(ask Asker, module string) (*protocol.Hello, error) {
	apply := s.Apply
	if s.joins {
		apply = s.ApplyAmongOthers
	}
	if err := apply(ask); err != nil {
		return nil, err
	}
	answers, err := s.sql(ask).ReadBack(s.job.ReadBack)
	if err != nil {
		return nil, err
	}
	rows, err := ask("SELECT sqlite_version(), sqlite_source_id()")
	if err != nil {
		return nil, err
	}
	hello := &protocol.Hello{
		EngineVersion: fmt.Sprint(rows[0][0]),
		DriverVersion: runner.ModuleVersion(module),
		Build:         map[string][]string{"source_id": {fmt.Sprint(rows[0][1])}},
		ReadBack:      answers,
	}
	options, err := ask("PRAGMA compile_options")
	if err != nil {
		return nil, fmt.Errorf("cannot read the compile options: %w", err)
	}
	for _, option := range options {
		hello.Build["compile_options"] = append(hello.Build["compile_options"], fmt.Sprint(option[0]))
	}
	return hello, nil
}
