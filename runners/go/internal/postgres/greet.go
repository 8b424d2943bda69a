package postgres

import (
	"fmt"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// Open makes the trial's database by a driver of a module, applies the settings and introduces the server.
func Open[S Session](job *protocol.Job, module string, dial Dial[S]) (*Scratch[S], *protocol.Hello, error) {
	if _, err := runner.ServerOf(job); err != nil {
		return nil, nil, err
	}
	settings, err := ParseSettings(job)
	if err != nil {
		return nil, nil, err
	}
	ForgetEnvironment()
	scratch, err := Make(job, settings, dial)
	if err != nil {
		return nil, nil, err
	}
	hello, err := greet(scratch.Session, settings)
	if err != nil {
		// The cause is reported, and not that something could not be removed.
		_ = scratch.Remove()
		return nil, nil, err
	}
	hello.DriverVersion = runner.ModuleVersion(module)
	return scratch, hello, nil
}

func greet(session Session, settings *Settings) (*protocol.Hello, error) {
	if err := settings.Apply(session); err != nil {
		return nil, err
	}
	version, _, err := value(session, "SELECT version()")
	if err != nil {
		return nil, fmt.Errorf("the server does not tell its version: %w", err)
	}
	hello := &protocol.Hello{EngineVersion: version, Build: map[string][]string{"version": {version}}}
	if strings.HasPrefix(version, "PostgreSQL") {
		number, _, err := value(session, "SHOW server_version")
		if err != nil {
			return nil, err
		}
		hello.EngineVersion, _, _ = strings.Cut(number, " ")
	} else {
		// Of what only speaks the protocol, name and version.
		hello.EngineVersion, _, _ = strings.Cut(version, " (")
	}
	encryption := "none"
	if ssl, _, _ := value(session, "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl"); ssl != "" {
		encryption = ssl
	}
	hello.Build["encryption"] = []string{encryption}
	hello.Settings, err = settings.InForce(session)
	return hello, err
}

// DatabaseBytes is the size of the database, in bytes.
func DatabaseBytes(session Session) (int64, error) {
	size, _, err := value(session, "SELECT pg_database_size(current_database())")
	if code(err) != "" {
		// What only speaks the protocol may have no such function; its files are out of reach too.
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(size, 10, 64)
}
