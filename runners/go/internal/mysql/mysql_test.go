package mysql

import (
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

func TestOneValueHasManySpellings(t *testing.T) {
	for _, equal := range [][2]string{{"128M", "134217728"}, {"ON", "1"}, {"0", "OFF"}, {"myisam", "MyISAM"}} {
		if !means(equal[0], equal[1]) {
			t.Error(equal)
		}
	}
	for _, other := range [][2]string{{"128M", "134217727"}, {"ON", "0"}, {"Aria", "InnoDB"}, {"1x", "1"}} {
		if means(other[0], other[1]) {
			t.Error(other)
		}
	}
}

func TestTheEngineAskedForMustBeTheOneThatAnswers(t *testing.T) {
	for _, known := range [][3]string{
		{"mariadb", "10.11.19-MariaDB-0+deb12u1", ""},
		{"mysql", "8.0.36-0ubuntu0.22.04.1", ""},
		{"mysql", "10.11.19-MariaDB-0+deb12u1", "the server is 10.11.19-MariaDB, not mysql"},
		{"mariadb", "9.7.0", "the server is 9.7.0, not mariadb"},
		{"mariadb", "10.1.48-MariaDB", "version 10.2 and later"},
		{"mysql", "5.6.51", "version 5.7 and later"},
	} {
		rule := protocol.VersionRule{Holds: []string{mariaDB}}
		if known[0] == "mysql" {
			rule = protocol.VersionRule{Lacks: []string{mariaDB}}
		}
		err := checkVersion(known[0], rule, known[1])
		if known[2] == "" && err != nil || known[2] != "" && (err == nil || !strings.Contains(err.Error(), known[2])) {
			t.Errorf("%v: %v", known, err)
		}
	}
}

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
