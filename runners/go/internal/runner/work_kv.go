package runner

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"dyno/runners/go/internal/protocol"
)

// comparedValues is how many of the values are compared after the clock.
const comparedValues = 1000

// storesNothing is a driver without an engine, of which no value can be asked.
type storesNothing interface{ StoresNothing() }

// kvWork is the models kv-put, kv-get, kv-scan, kv-range, kv-delete and kv-settle.
type kvWork struct {
	test   *protocol.Test
	driver KeyValue
	model  func(t *trial, watch *Latency) (protocol.Sample, error)
	mapped []mapping
}

func newKVWork(test *protocol.Test, driver KeyValue) (work, error) {
	settles := test.Model == "kv-settle"
	if test.Store == nil && !settles {
		return nil, missing(test, "store")
	}
	work := &kvWork{test: test, driver: driver}
	switch test.Model {
	case "kv-put":
		work.model = work.put
	case "kv-get":
		work.model = work.get
	case "kv-scan":
		work.model = work.scan
	case "kv-range":
		work.model = work.visit
	case "kv-delete":
		work.model = work.remove
	case "kv-settle":
		work.model = work.settle
	}
	needsPairs := test.Model == "kv-put" || test.Model == "kv-get"
	needsKeys := test.Model == "kv-range" || test.Model == "kv-delete"
	switch {
	case settles && len(test.Stores) == 0:
		return nil, missing(test, "stores")
	case needsPairs && test.Pairs == nil:
		return nil, missing(test, "pairs")
	case needsKeys && test.Keys == nil:
		return nil, missing(test, "keys")
	}
	return work, nil
}

func (w *kvWork) perform(t *trial) (protocol.Sample, error) {
	var watch *Latency
	if t.job.Latency && w.test.Model != "kv-scan" && w.test.Model != "kv-settle" {
		watch = newLatency()
	}
	sample, err := w.model(t, watch)
	sample.Classes = watch.classes(w.test.Model)
	return sample, err
}

// prepare maps a file of cells and opens the store.
func (w *kvWork) prepare(cells *protocol.Cells) (Cells, error) {
	loaded, err := w.load(cells)
	if err != nil {
		return Cells{}, err
	}
	return loaded, w.driver.OpenStore(w.test.Store)
}

func (w *kvWork) load(cells *protocol.Cells) (Cells, error) {
	loaded, mapped, err := mapCells(cells.File, cells.Count, cells.Bytes)
	w.mapped = append(w.mapped, mapped)
	return loaded, err
}

// values are the values of the test's pairs.
func (w *kvWork) values() (Cells, error) {
	pairs := w.test.Pairs
	if pairs.Values == nil {
		return Cells{}, missing(w.test, "values")
	}
	if pairs.Values.Count != pairs.Keys.Count {
		return Cells{}, fmt.Errorf("the job gives %d values for %d keys: this is an error in dyno", pairs.Values.Count, pairs.Keys.Count)
	}
	return w.load(pairs.Values)
}

func (w *kvWork) put(t *trial, watch *Latency) (protocol.Sample, error) {
	values, err := w.values()
	if err != nil {
		return protocol.Sample{}, err
	}
	keys, err := w.prepare(&w.test.Pairs.Keys)
	if err != nil {
		return protocol.Sample{}, err
	}
	count, timed := keys.Len(), timedOf(w.test, keys.Len())
	part := func(from, to, perCommit int) *Put {
		return &Put{Keys: keys.Slice(from, to), Values: values.Slice(from, to), Overwrite: w.test.Overwrite, PerCommit: perCommit}
	}
	put := part(0, timed, perCommitOf(w.test, timed))
	sample, err := w.change(t, "pair", count, timed,
		func(turns *Turns) (int, error) {
			put.Turns = turns
			return w.driver.Put(put, watch)
		},
		func() (int, error) { return w.driver.Put(part(timed, count, count), nil) })
	sample.Bytes = len(put.Keys.Bytes()) + len(put.Values.Bytes())
	return sample, err
}

func (w *kvWork) remove(t *trial, watch *Latency) (protocol.Sample, error) {
	keys, err := w.prepare(w.test.Keys)
	if err != nil {
		return protocol.Sample{}, err
	}
	count, timed := keys.Len(), timedOf(w.test, keys.Len())
	first := &Delete{Keys: keys.Slice(0, timed), PerCommit: perCommitOf(w.test, timed)}
	sample, err := w.change(t, "key", count, timed,
		func(turns *Turns) (int, error) {
			first.Turns = turns
			return w.driver.Delete(first, watch)
		},
		func() (int, error) {
			return w.driver.Delete(&Delete{Keys: keys.Slice(timed, count), PerCommit: count}, nil)
		})
	sample.Bytes = len(first.Keys.Bytes())
	return sample, err
}

// change times the first operations and does the rest after the clock.
func (w *kvWork) change(t *trial, what string, count, timed int, first func(turns *Turns) (int, error),
	rest func() (int, error)) (protocol.Sample, error) {
	done := 0
	sample, err := t.clock.time(timed, func(turns *Turns) (err error) {
		done, err = first(turns)
		return err
	})
	if err != nil {
		return sample, explain(err, what, timed)
	}
	if done != timed {
		return sample, fmt.Errorf("%d operations were done and %d were to be: the driver lost some", done, timed)
	}
	if timed < count {
		done, err := rest()
		if err == nil && done != count-timed {
			err = fmt.Errorf("%d operations were done after the clock and %d were to be", done, count-timed)
		}
		if err != nil {
			return sample, explain(err, what+" (after the clock)", count-timed)
		}
	}
	sample.Operations, sample.Rows = done, done
	return sample, nil
}

func (w *kvWork) get(t *trial, watch *Latency) (protocol.Sample, error) {
	keys, err := w.prepare(&w.test.Pairs.Keys)
	if err != nil {
		return protocol.Sample{}, err
	}
	lookups := &Lookups{Keys: keys, InOne: w.inOne()}
	sample, found, err := w.look(t, "key", lookups, func() (Found, error) { return w.driver.Get(lookups, watch) })
	if err != nil {
		return sample, err
	}
	t.answer.row(int64(found.Count), int64(found.Bytes))
	if _, nothing := w.driver.(storesNothing); nothing || !w.test.Present {
		return sample, nil
	}
	values, err := w.values()
	if err != nil {
		return sample, err
	}
	return sample, w.compare(keys, values)
}

func (w *kvWork) visit(t *trial, watch *Latency) (protocol.Sample, error) {
	keys, err := w.prepare(w.test.Keys)
	if err != nil {
		return protocol.Sample{}, err
	}
	ranges := &Ranges{Lookups{Keys: keys, InOne: w.inOne()}, w.test.Length}
	sample, found, err := w.look(t, "range", &ranges.Lookups, func() (Found, error) { return w.driver.Range(ranges, watch) })
	if err != nil {
		return sample, err
	}
	met, err := w.valuesMet(ranges)
	t.answer.row(int64(found.Count), int64(found.Bytes), int64(met))
	return sample, err
}

// valuesMet is the same ranges once more, after the clock: one checksum over all values in the order met. A range that
// begins at the wrong key, or goes on in the wrong order, finds as many and as long ones.
func (w *kvWork) valuesMet(ranges *Ranges) (uint32, error) {
	met := uint32(0)
	add := func(value []byte) { met = crc32.Update(met, crc32.IEEETable, value) }
	for place := range ranges.Keys.Len() {
		if err := w.driver.Visit(ranges.Keys.Get(place), ranges.Length, add); err != nil {
			return met, err
		}
	}
	return met, nil
}

// inOne says whether lookups are in one transaction.
func (w *kvWork) inOne() bool { return w.test.Reads == "one" }

// look times lookups.
func (w *kvWork) look(t *trial, what string, lookups *Lookups, look func() (Found, error)) (protocol.Sample, Found, error) {
	var found Found
	count := lookups.Keys.Len()
	sample, err := t.clock.time(count, func(turns *Turns) (err error) {
		lookups.Turns = turns
		found, err = look()
		return err
	})
	if err != nil {
		return sample, found, explain(err, what, count)
	}
	sample.Operations, sample.Rows, sample.Bytes = count, found.Count, found.Bytes
	return sample, found, nil
}

func (w *kvWork) settle(t *trial, _ *Latency) (protocol.Sample, error) {
	sample, err := t.clock.time(1, func(*Turns) error { return w.driver.Settle(w.test.Stores) })
	sample.Operations = 1
	return sample, err
}

// compare looks at some of the values, evenly spaced, as they are stored.
func (w *kvWork) compare(keys, values Cells) error {
	step := max(keys.Len()/comparedValues, 1)
	for place := 0; place < keys.Len(); place += step {
		stored, err := w.driver.Value(keys.Get(place))
		if err != nil {
			return err
		}
		if stored == nil || !bytes.Equal(stored, values.Get(place)) {
			return fmt.Errorf("the value of key %d of %d is not the one that was put", place+1, keys.Len())
		}
	}
	return nil
}

func (w *kvWork) scan(t *trial, _ *Latency) (protocol.Sample, error) {
	if err := w.driver.OpenStore(w.test.Store); err != nil {
		return protocol.Sample{}, err
	}
	var found Found
	// Reads the key: its first byte, which no compiler may leave out.
	sample, err := t.clock.time(1, func(*Turns) error {
		return w.driver.ScanPairs(func(key, value []byte) {
			touched ^= key[0]
			found.Add(len(value))
		})
	})
	sample.Operations, sample.Rows, sample.Bytes = found.Count, found.Count, found.Bytes
	return sample, err
}

// readBack is the digest of the store, or of a scan the count and one checksum over all keys in order.
func (w *kvWork) readBack(t *trial) error {
	switch w.test.Model {
	case "kv-put", "kv-delete":
		return w.digests(t, []protocol.Store{*w.test.Store})
	case "kv-settle":
		return w.digests(t, w.test.Stores)
	case "kv-scan":
		count, sum := int64(0), uint32(0)
		if err := w.driver.ScanPairs(func(key, _ []byte) {
			count++
			sum = crc32.Update(sum, crc32.IEEETable, key)
		}); err != nil {
			return err
		}
		t.answer.begin(true)
		t.answer.row(count, int64(sum))
	}
	return nil
}

// digests are those of some stores, one after another.
func (w *kvWork) digests(t *trial, stores []protocol.Store) error {
	t.answer.begin(true)
	for i := range stores {
		if err := w.driver.OpenStore(&stores[i]); err != nil {
			return err
		}
		digest := &storeDigest{}
		if err := w.driver.ScanPairs(digest.add); err != nil {
			return err
		}
		digest.report(t.answer)
	}
	return nil
}

func (w *kvWork) release() {
	for _, mapped := range w.mapped {
		mapped.release()
	}
}
