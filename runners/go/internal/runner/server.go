package runner

import (
	"dyno/runners/go/internal/protocol"
)

// Connection is a connection to a server.
type Connection interface {
	// Rows executes a statement outside the clock and returns its rows.
	Rows(sql string) ([][]protocol.Value, error)
	Close() error
}

// Connect connects, each time anew and from any goroutine.
type Connect[C Connection] func() (C, error)

// Client is how a driver reaches servers.
type Client[C Connection] struct {
	// Module is the driver's.
	Module string
	// Dial is how a server is connected to, worked out once.
	Dial func(server *protocol.Server) (Connect[C], error)
	// Code is the server's code of an error; empty for an error of the connection.
	Code func(err error) string
	// Encryption says how a connection is encrypted.
	Encryption func(C) string
}

// ServerTrial is a trial on a server: connections to its database, which the job's maintenance makes and removes.
type ServerTrial[C Connection] struct {
	// First is the connection whose settings were read back.
	First    C
	client   Client[C]
	job      *protocol.Job
	enter    Connect[C]
	settings *OnConnect
}

// OpenServer executes the job's maintenance, connects to the database of the trial, applies the settings and introduces the
// server.
func OpenServer[C Connection](job *protocol.Job, client Client[C]) (*ServerTrial[C], *protocol.Hello, error) {
	server, err := ServerOf(job)
	if err != nil {
		return nil, nil, err
	}
	enter, err := client.Dial(server)
	if err != nil {
		return nil, nil, err
	}
	trial := &ServerTrial[C]{client: client, job: job, enter: enter, settings: NewOnConnect(job)}
	if job.Maintenance != nil {
		if err := trial.maintain(job.Maintenance.Before); err != nil {
			return nil, nil, err
		}
	}
	hello, err := trial.begin()
	if err != nil {
		// The cause is reported, and not that something could not be removed.
		_ = trial.after()
		return nil, nil, err
	}
	return trial, hello, nil
}

func (t *ServerTrial[C]) begin() (*protocol.Hello, error) {
	first, err := t.Another()
	if err != nil {
		return nil, err
	}
	t.First = first
	answers, err := t.sql(first).ReadBack(t.job.ReadBack)
	if err != nil {
		_ = first.Close()
		return nil, err
	}
	return &protocol.Hello{
		DriverVersion: ModuleVersion(t.client.Module),
		Build:         map[string][]string{"encryption": {t.client.Encryption(first)}},
		ReadBack:      answers,
	}, nil
}

// Another is one more connection to the database, with the settings in force. Several goroutines may ask for one at the
// same time.
func (t *ServerTrial[C]) Another() (C, error) {
	connection, err := t.enter()
	if err != nil {
		return connection, err
	}
	if err := t.settings.Apply(t.sql(connection)); err != nil {
		_ = connection.Close()
		return connection, err
	}
	return connection, nil
}

// DatabaseBytes is the size of the database, in bytes.
func (t *ServerTrial[C]) DatabaseBytes() (int64, error) {
	return t.sql(t.First).FirstNumber(t.job.DatabaseBytes)
}

// Close closes the connection and does what is to be done at the end.
func (t *ServerTrial[C]) Close() error {
	// A connection that is lost does not close well, and need not. The server rolls back what it has not committed.
	_ = t.First.Close()
	return t.after()
}

func (t *ServerTrial[C]) after() error {
	if t.job.Maintenance == nil || len(t.job.Maintenance.After) == 0 {
		return nil
	}
	return t.maintain(t.job.Maintenance.After)
}

// maintain executes statements by a separate connection.
func (t *ServerTrial[C]) maintain(statements []protocol.Statement) error {
	server := *t.job.Server
	server.Database = t.job.Maintenance.Database
	connect, err := t.client.Dial(&server)
	if err != nil {
		return err
	}
	connection, err := connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	return t.sql(connection).Execute(statements)
}

func (t *ServerTrial[C]) sql(connection C) SQL { return SQL{connection.Rows, t.client.Code} }
