package mysql

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"dyno/runners/go/internal/protocol"

	"github.com/go-sql-driver/mysql"
)

// modes are how far a connection can be encrypted, as MySQL's own programs name them.
var modes = []string{"DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"}

// known are the options of a URL that are understood.
const known = "ssl-mode, connect-timeout, ssl-ca, ssl-cert, ssl-key"

// longestPath is the most bytes of a socket's path: one less than the kernel's sun_path.
const longestPath = 107

// configOf is the driver's configuration of a connection. The password stands in it and nowhere else.
func configOf(server *protocol.Server) (*mysql.Config, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = server.User, server.Password.Reveal(), server.Database
	config.Collation = ""
	// An UPDATE counts the rows that it finds, as on every engine.
	config.ClientFoundRows = true
	// A statement with parameters that is not prepared has them in its text, escaped by the driver. Those that are prepared
	// are not concerned.
	config.InterpolateParams = true
	config.Timeout = 10 * time.Second
	config.Logger = &mysql.NopLogger{}
	if strings.HasPrefix(server.Host, "/") {
		if len(server.Host) > longestPath {
			return nil, fmt.Errorf("the path of the socket %s is too long: the kernel takes %d bytes; use a folder with a "+
				"shorter name", server.Host, longestPath)
		}
		config.Net, config.Addr = "unix", server.Host
	} else {
		port := server.Port
		if port == 0 {
			port = 3306
		}
		config.Net, config.Addr = "tcp", fmt.Sprintf("%s:%d", server.Host, port)
		if strings.Contains(server.Host, ":") {
			config.Addr = fmt.Sprintf("[%s]:%d", server.Host, port)
		}
	}
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, err
	}
	return config, apply(config, server)
}

// apply takes in the options of the URL.
func apply(config *mysql.Config, server *protocol.Server) error {
	files := map[string]string{}
	mode := ""
	for name, value := range server.Options {
		switch plain := strings.ReplaceAll(strings.ToLower(name), "_", "-"); plain {
		case "ssl-mode":
			mode = strings.ReplaceAll(strings.ToUpper(value), "-", "_")
		case "connect-timeout":
			seconds, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("the option connect-timeout is in seconds, not '%s'", value)
			}
			config.Timeout = time.Duration(seconds) * time.Second
		case "ssl-ca", "ssl-cert", "ssl-key":
			files[plain] = value
		default:
			return fmt.Errorf("the URL has the option '%s', and a connection to MySQL by go-sql-driver has %s", name, known)
		}
	}
	return encrypt(config, server.Host, mode, files)
}

// encrypt sets how far the connection is encrypted.
func encrypt(config *mysql.Config, host, mode string, files map[string]string) error {
	settings := &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	switch mode {
	case "":
		if len(files) == 0 {
			return nil
		}
		if files["ssl-ca"] != "" {
			return encrypt(config, host, "VERIFY_CA", files)
		}
	case "DISABLED":
		return nil
	case "PREFERRED":
		config.AllowFallbackToPlaintext = true
	case "REQUIRED":
	case "VERIFY_CA":
		// The name is not looked at, the authority is.
		settings.VerifyConnection = func(state tls.ConnectionState) error { return verify(state, settings.RootCAs) }
	case "VERIFY_IDENTITY":
		settings.InsecureSkipVerify = false
	default:
		return fmt.Errorf("the option ssl-mode is one of %s, not '%s'", strings.Join(modes, ", "), mode)
	}
	if file := files["ssl-ca"]; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("the option ssl-ca: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("the option ssl-ca: %s holds no certificate", file)
		}
	}
	if files["ssl-cert"] != "" || files["ssl-key"] != "" {
		pair, err := tls.LoadX509KeyPair(files["ssl-cert"], files["ssl-key"])
		if err != nil {
			return fmt.Errorf("the options ssl-cert and ssl-key: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	config.TLS = settings
	return nil
}

// verify checks that the server's certificate comes from an authority that is known.
func verify(state tls.ConnectionState, roots *x509.CertPool) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	between := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	return err
}
