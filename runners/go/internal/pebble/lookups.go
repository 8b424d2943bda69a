package pebble

import (
	"bytes"
	"context"
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/cockroachdb/pebble/v2"
)

// reader is the database, of which each lookup sees the newest state, or the snapshot that all lookups share, and what
// ends it.
func (d *Database) reader(lookups *runner.Lookups) (pebble.Reader, func() error) {
	if !lookups.InOne {
		return d.db, func() error { return nil }
	}
	snapshot := d.db.NewSnapshot()
	return snapshot, snapshot.Close
}

func (d *Database) Get(lookups *runner.Lookups, watch *runner.Latency) (found runner.Found, err error) {
	reader, end := d.reader(lookups)
	defer func() { err = errors.Join(err, end()) }()
	var key []byte
	err = lookups.Turns.Parts(0, lookups.Keys.Len(), 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			key = d.prefixed(key, lookups.Keys.Get(place))
			value, closer, err := reader.Get(key)
			if err == nil {
				found.Add(len(value))
				err = closer.Close()
			}
			watch.End(begin)
			if err != nil && !errors.Is(err, pebble.ErrNotFound) {
				return runner.At(place, err)
			}
		}
		return nil
	})
	return found, err
}

// Range has one iterator for all ranges where they share a snapshot, and else one for each.
func (d *Database) Range(ranges *runner.Ranges, watch *runner.Latency) (found runner.Found, err error) {
	reader, end := d.reader(&ranges.Lookups)
	defer func() { err = errors.Join(err, end()) }()
	var shared *pebble.Iterator
	if ranges.InOne {
		if shared, err = reader.NewIter(bounds(d.prefix)); err != nil {
			return found, err
		}
		defer func() { err = errors.Join(err, shared.Close()) }()
	}
	var key []byte
	within := bounds(d.prefix)
	err = ranges.Turns.Parts(0, ranges.Keys.Len(), 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			key = d.prefixed(key, ranges.Keys.Get(place))
			pairs := shared
			if pairs == nil {
				if pairs, err = reader.NewIter(within); err != nil {
					return runner.At(place, err)
				}
			}
			more := pairs.SeekGE(key)
			for left := ranges.Length; more && left > 0; left-- {
				found.Add(len(pairs.Value()))
				if left > 1 {
					more = pairs.Next()
				}
			}
			err := pairs.Error()
			if shared == nil {
				err = errors.Join(err, pairs.Close())
			}
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
		}
		return nil
	})
	return found, err
}

// Visit is one range, outside the clock.
func (d *Database) Visit(from []byte, length int, visit func(value []byte)) error {
	pairs, err := d.db.NewIter(bounds(d.prefix))
	if err != nil {
		return err
	}
	more := pairs.SeekGE(d.prefixed(nil, from))
	for ; more && length > 0; length-- {
		visit(pairs.Value())
		more = pairs.Next()
	}
	return errors.Join(pairs.Error(), pairs.Close())
}

// Settle writes out the memtable and merges all that belongs to each store, as Flush and Compact of
// https://pkg.go.dev/github.com/cockroachdb/pebble/v2 do it. Tables are synced as they are made, and nothing of the log
// is then needed.
func (d *Database) Settle(stores []protocol.Store) error {
	if err := d.db.Flush(); err != nil {
		return err
	}
	for i := range stores {
		within := bounds(prefixOf(stores[i].Name))
		if err := d.db.Compact(context.Background(), within.LowerBound, within.UpperBound, false); err != nil {
			return err
		}
	}
	return nil
}

func (d *Database) Value(key []byte) ([]byte, error) {
	value, closer, err := d.db.Get(d.prefixed(nil, key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(value), closer.Close()
}
