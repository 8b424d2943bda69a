package pebble

import (
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
	return d.batches(put.Keys.Len(), put.PerCommit, put.Turns, watch, func(writer pebble.Writer, place int) error {
		key = d.prefixed(key, put.Keys.Get(place))
		return writer.Set(key, put.Values.Get(place), d.write)
	})
}

func (d *Database) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	var key []byte
	return d.batches(del.Keys.Len(), del.PerCommit, del.Turns, watch, func(writer pebble.Writer, place int) error {
		key = d.prefixed(key, del.Keys.Get(place))
		return writer.Delete(key, d.write)
	})
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
