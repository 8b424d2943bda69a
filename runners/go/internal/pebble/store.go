package pebble

import (
	"bytes"
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/cockroachdb/pebble/v2"
)

// OpenStore takes the store's prefix. Integer keys are stored as their bytes, which sort as the numbers do.
func (d *Database) OpenStore(store *protocol.Store) error {
	d.prefix = prefixOf(store.Name)
	return nil
}

// prefixed is a key behind the store's prefix.
func (d *Database) prefixed(buffer, key []byte) []byte {
	return append(append(buffer[:0], d.prefix...), key...)
}

func (d *Database) Put(put *runner.Put, watch *runner.Latency) (int, error) {
	var key []byte
	return d.batches(put.Keys.Len(), put.PerCommit, watch, func(writer pebble.Writer, place int) error {
		key = d.prefixed(key, put.Keys.Get(place))
		return writer.Set(key, put.Values.Get(place), d.write)
	})
}

func (d *Database) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	var key []byte
	return d.batches(del.Keys.Len(), del.PerCommit, watch, func(writer pebble.Writer, place int) error {
		key = d.prefixed(key, del.Keys.Get(place))
		return writer.Delete(key, d.write)
	})
}

func (d *Database) Get(keys runner.Cells, watch *runner.Latency) (found runner.Found, err error) {
	var key []byte
	for place := range keys.Len() {
		begin := watch.Begin()
		key = d.prefixed(key, keys.Get(place))
		value, closer, err := d.db.Get(key)
		if err == nil {
			found.Add(len(value))
			err = closer.Close()
		}
		watch.End(begin)
		if err != nil && !errors.Is(err, pebble.ErrNotFound) {
			return found, runner.At(place, err)
		}
	}
	return found, nil
}

// Range uses one iterator for all ranges, as a program would that reads what does not change.
func (d *Database) Range(keys runner.Cells, length int, watch *runner.Latency) (found runner.Found, err error) {
	pairs, err := d.db.NewIter(bounds(d.prefix))
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, pairs.Close()) }()
	var key []byte
	for place := range keys.Len() {
		begin := watch.Begin()
		key = d.prefixed(key, keys.Get(place))
		more := pairs.SeekGE(key)
		for left := length; more && left > 0; left-- {
			found.Add(len(pairs.Value()))
			if left > 1 {
				more = pairs.Next()
			}
		}
		watch.End(begin)
		if err := pairs.Error(); err != nil {
			return found, runner.At(place, err)
		}
	}
	return found, nil
}

func (d *Database) ScanPairs(visit func(key, value []byte)) error {
	pairs, err := d.db.NewIter(bounds(d.prefix))
	if err != nil {
		return err
	}
	for more := pairs.First(); more; more = pairs.Next() {
		visit(pairs.Key()[len(d.prefix):], pairs.Value())
	}
	return errors.Join(pairs.Error(), pairs.Close())
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
