// Package null is an engine that does nothing, and so shows what the harness itself costs in Go: it walks
// over the input as every driver does and never looks into it.
package null

import (
	"fmt"
	"runtime"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// Driver is nothing.
type Driver struct{}

// sink takes what would be given to an engine, so that no compiler leaves the walk out.
var sink struct {
	text  string
	bytes []byte
}

// Open opens nothing.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	if job.Build.Kind != "bundled" {
		return nil, nil, fmt.Errorf("the null engine has no build other than its own")
	}
	if len(job.Settings) > 0 {
		return nil, nil, fmt.Errorf("the null engine has no setting '%s': it has none", job.Settings[0].Name)
	}
	if err := runner.NoVariants(job); err != nil {
		return nil, nil, err
	}
	return Driver{}, &protocol.Hello{EngineVersion: runner.Version, DriverVersion: runtime.Version()}, nil
}

// StoresNothing keeps the skeleton from looking for what was put.
func (Driver) StoresNothing() {}

func (Driver) Close() error { return nil }

func (Driver) Statements(list *runner.StatementList, from, to int, _ *runner.Answer) error {
	for i := from; i < to; i++ {
		sink.text = list.Get(i)
	}
	return nil
}

func (Driver) Query(string, *runner.Answer) error { return nil }

func (Driver) Changes() (int, error) { return 0, nil }

func (Driver) InsertRows(load *runner.Load) (int, error) { return walk(load) }

func (Driver) BulkLoad(load *runner.Load) (int, error) { return walk(load) }

func walk(load *runner.Load) (int, error) {
	return load.Rows.Len(), load.Turns.Parts(0, load.Rows.Len(), 1, func(from, to int) error {
		for i := from; i < to; i++ {
			row := load.Rows.Get(i)
			for c := range load.Columns {
				width := load.Columns[c].Bytes
				sink.bytes, row = row[:width], row[width:]
			}
		}
		return nil
	})
}

func (Driver) Scan(*runner.Scan, *runner.Answer) error { return nil }

func (Driver) ReadRows(string, []protocol.Column, func([][]byte) error) error { return nil }

func (Driver) OpenStore(*protocol.Store) error { return nil }

func (Driver) Put(put *runner.Put, watch *runner.Latency) (int, error) {
	return put.Keys.Len(), put.Turns.Parts(0, put.Keys.Len(), 1, func(from, to int) error {
		for i := from; i < to; i++ {
			begin := watch.Begin()
			sink.bytes = put.Keys.Get(i)
			sink.bytes = put.Values.Get(i)
			watch.End(begin)
		}
		return nil
	})
}

func (Driver) Get(lookups *runner.Lookups, watch *runner.Latency) (runner.Found, error) {
	return runner.Found{}, look(lookups.Keys, lookups.Turns, watch)
}

func (Driver) ScanPairs(func(key, value []byte)) error { return nil }

func (Driver) Range(ranges *runner.Ranges, watch *runner.Latency) (runner.Found, error) {
	return runner.Found{}, look(ranges.Keys, ranges.Turns, watch)
}

func (Driver) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	return del.Keys.Len(), look(del.Keys, del.Turns, watch)
}

func look(keys runner.Cells, turns *runner.Turns, watch *runner.Latency) error {
	return turns.Parts(0, keys.Len(), 1, func(from, to int) error {
		for i := from; i < to; i++ {
			begin := watch.Begin()
			sink.bytes = keys.Get(i)
			watch.End(begin)
		}
		return nil
	})
}

func (Driver) Settle([]protocol.Store) error { return nil }

func (Driver) Value([]byte) ([]byte, error) { return nil, nil }

func (Driver) Visit([]byte, int, func([]byte)) error { return nil }

// session is a client of a mix.
type session struct {
	statements []runner.Statement
	sink       any
}

func (Driver) Session(int) (runner.Session, error) { return &session{}, nil }

// Connect is a client that comes for a while.
func (Driver) Connect() (runner.Session, error) { return &session{}, nil }

func (s *session) Prepare(mix *protocol.Mix) error {
	parameter := func(int) string { return "?" }
	return runner.PrepareAll(mix, parameter, func(one runner.Statement) error {
		s.statements = append(s.statements, one)
		return nil
	})
}

func (s *session) Run(statement int, values *runner.Values, _ *runner.Answer) error {
	for _, source := range s.statements[statement].Parameters {
		s.sink = values.Get(source)
	}
	return nil
}

func (*session) Begin(protocol.Purpose) error { return nil }

func (*session) Commit() error { return nil }

func (*session) Rollback() error { return nil }

func (*session) MayPass(error) bool { return false }

// IsHarness says that no row is missed.
func (*session) IsHarness() {}

func (*session) Close() error { return nil }
