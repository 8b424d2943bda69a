package postgres

import (
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

func TestAJobWithoutAModeOfEncryptionAsksForPlainText(t *testing.T) {
	for _, given := range []string{"", "prefer"} {
		server := &protocol.Server{Host: "h", User: "u", Options: map[string]string{}}
		wanted := "sslmode='disable'"
		if given != "" {
			server.Options["sslmode"] = given
			wanted = "sslmode='" + given + "'"
		}
		if options, err := Options(server, "x", Common); err != nil || !strings.Contains(options, wanted) {
			t.Errorf("%s: %v", options, err)
		}
	}
}
