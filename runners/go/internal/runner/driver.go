package runner

import (
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// Open opens a fresh database and applies the settings asked for. Those in the greeting are read back
// from the engine after all of them are applied.
type Open func(job *protocol.Job) (Driver, *protocol.Hello, error)

// Driver is an engine as reached through one client library.
type Driver interface {
	// Close closes the database, and removes what was made on a server. It is called once, after a
	// failure too, and outside the clock.
	Close() error
}

// Statements is what a driver of an engine with SQL does.
type Statements interface {
	// Statements executes statements in order, from one place of the list to another, and fetches every value
	// of every row into the answer. It is a part of a timed section.
	Statements(list *StatementList, from, to int, answer *Answer) error
	// Query runs one statement outside the clock: a check or a part of a test's setup.
	Query(sql string, answer *Answer) error
	// Changes is how many rows have been inserted, updated or deleted so far. Called outside the clock.
	Changes() (int, error)
}

// Sized is a driver that asks a server for the size of the database, in bytes. Of others the files in
// the job's folder are added up.
type Sized interface {
	DatabaseBytes() (int64, error)
}

// Rows is what a driver does with rows.
type Rows interface {
	// InsertRows inserts each row by a separate call on one prepared statement, and commits as the
	// load says. This is a timed section. It returns how many rows were inserted.
	InsertRows(load *Load) (int, error)
	// BulkLoad loads the rows by the way that the job's variant names, or by the driver's best one. This
	// is a timed section. It returns how many rows were loaded.
	BulkLoad(load *Load) (int, error)
	// Scan counts the rows whose two columns differ: one row with the count. This is a timed section.
	Scan(scan *Scan, answer *Answer) error
	// ReadRows reads a whole table back, outside the clock, and hands each row's cells to visit, in any
	// order; they are good for the call only. A cell that is not stored as text is an error.
	ReadRows(table string, columns []protocol.Column, visit func(row [][]byte) error) error
}

// KeyValue is what a driver does with keys and values. Every call but OpenStore, Value and Visit is a timed
// section; each operation stands between watch.Begin and watch.End.
type KeyValue interface {
	// OpenStore opens a store, making it where it is missing. The calls that follow are about it.
	OpenStore(store *protocol.Store) error
	// Put puts pairs and returns how many.
	Put(put *Put, watch *Latency) (int, error)
	// Get gets the value of each key and reads its length.
	Get(lookups *Lookups, watch *Latency) (Found, error)
	// ScanPairs hands every pair to visit, in the order of the keys; they are good for the call only.
	// Integer keys are handed over in 8 bytes. It is timed with a visit that adds lengths, and called
	// outside the clock with one that takes checksums.
	ScanPairs(visit func(key, value []byte)) error
	// Range visits from each key up to a number of pairs in the order of the keys. Where ranges are not in one
	// transaction, each has a separate iterator.
	Range(ranges *Ranges, watch *Latency) (Found, error)
	// Delete deletes each key and returns how many.
	Delete(del *Delete, watch *Latency) (int, error)
	// Settle does what writes to these stores have put off, as the engine's manual does it: writes out what is
	// in memory, compacts, checkpoints, and waits until all of it is on the device.
	Settle(stores []protocol.Store) error
	// Value is the value of one key as it is stored, nil where there is none. Outside the clock.
	Value(key []byte) ([]byte, error)
	// Visit hands over the values of up to length pairs in the order of the keys, from this key on; they are
	// good for the call only. Outside the clock.
	Visit(from []byte, length int, visit func(value []byte)) error
}

// Sessions is what a driver of an engine with SQL does for many clients.
type Sessions interface {
	// Session is the session of a client, counted from zero, with the job's settings in force: of the first
	// the connection that is there already, of others one of their own. Called outside the clock.
	Session(client int) (Session, error)
}

// Door is a driver whose clients can come and go.
type Door interface {
	// Connect is the session of a client that comes for a while, with the job's settings in force. It does what a
	// careful program does to connect, once: it is a part of a timed section, and several goroutines call it at the
	// same time. What Close of the session does is timed too.
	Connect() (Session, error)
}

// Aside is a driver of an engine that does something when its last connection goes, so that the driver's own must
// not be there while clients come and go.
type Aside interface {
	// StepAside does something while the driver is not connected. Called outside the clock.
	StepAside(meanwhile func()) error
}

// Session is what a client does with prepared statements. Different sessions are used at the same time.
type Session interface {
	// Prepare prepares all statements of a mix. Called outside the clock.
	Prepare(mix *protocol.Mix) error
	// Run executes a statement, by its position among those that were prepared, with what its parameters are
	// now, and reads every value of every row into the answer.
	Run(statement int, values *Values, answer *Answer) error
	// Begin begins a transaction.
	Begin(purpose protocol.Purpose) error
	// Commit commits it.
	Commit() error
	// Rollback undoes it. The engine may have done so already.
	Rollback() error
	// MayPass says whether an operation that failed so may succeed if it is tried again: the database was
	// busy, it was the victim of a deadlock, or it could not be put in an order with the others.
	MayPass(err error) bool
	// Close gives back the statements, and the connection if it was opened for this client. Called once,
	// outside the clock.
	Close() error
}

// Coded is a session whose errors have codes, as a suite names errors.
type Coded interface{ Codes(err error) []string }

// Harness is a session without an engine: what is stored cannot be read back, and so no row is missed.
type Harness interface{ IsHarness() }

func isHarness(session Session) bool {
	_, is := session.(Harness)
	return is
}

// Failure is an operation that failed within a timed section.
type Failure struct {
	// Index is the operation's place in its input, counted from zero.
	Index int
	Err   error
}

// At is the failure of an operation by its place.
func At(index int, err error) error { return &Failure{Index: index, Err: err} }

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

func unsupported(model string) error {
	return fmt.Errorf("this driver does not implement the model %s", model)
}
