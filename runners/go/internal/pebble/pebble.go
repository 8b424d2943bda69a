// Package pebble reaches Pebble, the key-value store of CockroachDB. A table or a store is a prefix of the
// keys: its name and a zero byte.
package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/cockroachdb/pebble/v2"
)

const module = "github.com/cockroachdb/pebble/v2"

// The ways of loading: batches of many rows, and row by row. How many rows a batch has, the test says.
const (
	wayBatch  = "batch"
	waySingle = "single"
)

// largestBatch is how large a batch may become, in bytes, that the test leaves without a bound. Pebble's own
// limit is 4 GiB.
const largestBatch = 1 << 30

// Database is an open database.
type Database struct {
	db *pebble.DB
	// write is how a commit is made: synced or not.
	write *pebble.WriteOptions
	// rows is how many rows each table has.
	rows map[string]uint64
	// prefix is that of the open store.
	prefix []byte
}

// Open opens a fresh database.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	if job.Build.Kind != "bundled" {
		return nil, nil, errors.New("Pebble is part of the runner and has no build other than that")
	}
	if _, err := runner.VariantOf(job, wayBatch, waySingle); err != nil {
		return nil, nil, err
	}
	settings, err := parseSettings(job)
	if err != nil {
		return nil, nil, err
	}
	folder := filepath.Join(job.Directory, "pebble")
	db, err := pebble.Open(folder, settings.options)
	if err != nil {
		return nil, nil, fmt.Errorf("Pebble cannot open a database: %w", err)
	}
	inForce, err := settings.inForce(folder)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	database := &Database{db: db, write: pebble.NoSync, rows: map[string]uint64{}}
	if settings.sync {
		database.write = pebble.Sync
	}
	version := runner.ModuleVersion(module)
	return database, &protocol.Hello{EngineVersion: version, DriverVersion: version, Settings: inForce}, nil
}

func (d *Database) Close() error { return d.db.Close() }

// logger reports errors to people and ends the trial where Pebble cannot go on.
type logger struct{}

func (logger) Infof(string, ...any) {}

func (logger) Errorf(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
}

func (logger) Fatalf(format string, values ...any) {
	runner.Fatal("Pebble cannot go on: "+format, values...)
}

// prefixOf is the prefix of a table or store.
func prefixOf(name string) []byte { return append([]byte(name), 0) }

// bounds keep an iterator within a prefix.
func bounds(prefix []byte) *pebble.IterOptions {
	upper := append([]byte{}, prefix...)
	upper[len(upper)-1]++
	return &pebble.IterOptions{LowerBound: prefix, UpperBound: upper}
}

// batches does operations on batches of a given size, and commits them. An operation that is a batch by
// itself goes without one. It returns how many were done.
func (d *Database) batches(count, perCommit int, turns *runner.Turns, watch *runner.Latency,
	operation func(writer pebble.Writer, place int) error) (int, error) {
	if perCommit == 1 {
		return d.each(count, turns, watch, operation)
	}
	batch, done := d.db.NewBatch(), 0
	err := turns.Parts(0, count, 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			err := operation(batch, place)
			if last := place+1 == count; err == nil && (last || (place+1)%perCommit == 0 || batch.Len() >= largestBatch) {
				if err = batch.Commit(d.write); err == nil {
					err = batch.Close()
				}
				if !last {
					batch = d.db.NewBatch()
				}
			}
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
			done++
		}
		return nil
	})
	return done, err
}

// each does operations that are a batch each.
func (d *Database) each(count int, turns *runner.Turns, watch *runner.Latency,
	operation func(writer pebble.Writer, place int) error) (int, error) {
	done := 0
	err := turns.Parts(0, count, 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			err := operation(d.db, place)
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
			done++
		}
		return nil
	})
	return done, err
}

// numbered is the key of a row: the table's prefix and the row's number, the most significant byte first.
func numbered(key, prefix []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(key[:0], prefix...), number)
}
