package runner

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMain lets the tests measure with the library that the repository's build has made.
func TestMain(m *testing.M) {
	target := os.Getenv("CARGO_TARGET_DIR")
	if target == "" {
		target = "../../../../target"
	}
	file, err := filepath.Abs(filepath.Join(target, "release", gaugeFile))
	gaugePath = func() (string, error) { return file, err }
	os.Exit(m.Run())
}
