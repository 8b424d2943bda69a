package mysql

import (
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

func TestOptionsAreNamedAsMySQLsProgramsNameThem(t *testing.T) {
	config := func(name, value string) (bool, error) {
		config, err := configOf(&protocol.Server{Host: "h", User: "u", Options: map[string]string{name: value}})
		return err == nil && config.TLS != nil, err
	}
	if encrypted, err := config("ssl_mode", "verify-identity"); err != nil || !encrypted {
		t.Errorf("%v", err)
	}
	if encrypted, err := config("ssl-mode", "DISABLED"); err != nil || encrypted {
		t.Errorf("%v", err)
	}
	for option, wanted := range map[[2]string]string{
		{"sslmode", "require"}:      "the option 'sslmode', and a connection to MySQL",
		{"ssl-mode", "maybe"}:       "one of DISABLED, PREFERRED",
		{"connect-timeout", "soon"}: "in seconds",
		{"ssl-ca", "/nowhere.pem"}:  "the option ssl-ca",
	} {
		if _, err := config(option[0], option[1]); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%v: %v", option, err)
		}
	}
}
