package runner

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMain lets the tests measure with the library that the repository's build has made: a release build, or the
// folder that DYNO_PROGRAMS names.
func TestMain(m *testing.M) {
	programs := os.Getenv("DYNO_PROGRAMS")
	if programs == "" {
		target := os.Getenv("CARGO_TARGET_DIR")
		if target == "" {
			target = "../../../../target"
		}
		programs = filepath.Join(target, "release")
	}
	file, err := filepath.Abs(filepath.Join(programs, gaugeFile))
	gaugePath = func() (string, error) { return file, err }
	os.Exit(m.Run())
}
