package driver

import (
	"context"
	"errors"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// pageOf is how many pairs a request of a scan fetches.
const pageOf = 10_000

func isCompacted(err error) bool { return errors.Is(err, rpctypes.ErrCompacted) }

// prefixOf is the prefix of a store's keys.
func prefixOf(name string) string { return name + "\x00" }

// endOf is the end of the keys with a prefix.
func endOf(prefix string) string { return clientv3.GetPrefixRangeEnd(prefix) }

// OpenStore takes the store's prefix. Integer keys are stored as their bytes, which sort as the numbers do.
func (d *Database) OpenStore(store *protocol.Store) error {
	d.prefix = prefixOf(store.Name)
	return nil
}

func (d *Database) key(key []byte) string { return d.prefix + string(key) }

func (d *Database) Put(put *runner.Put, watch *runner.Latency) (int, error) {
	return d.change(put.Keys.Len(), put.PerCommit, put.Turns, watch, func(place int) clientv3.Op {
		return clientv3.OpPut(d.key(put.Keys.Get(place)), string(put.Values.Get(place)))
	})
}

func (d *Database) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	return d.change(del.Keys.Len(), del.PerCommit, del.Turns, watch, func(place int) clientv3.Op {
		return clientv3.OpDelete(d.key(del.Keys.Get(place)))
	})
}

// change does operations, some of which make a transaction. One that is a transaction goes without one.
func (d *Database) change(count, perCommit int, turns *runner.Turns, watch *runner.Latency,
	operation func(place int) clientv3.Op) (int, error) {
	changes := newChanges()
	return runner.Requests(count, perCommit, turns, watch, func(place int) bool {
		changes.add(operation(place))
		return changes.bytes >= largestRequest
	}, func() error { return changes.commit(d.client) })
}

// changes are those of a transaction. etcd refuses one that names a key twice, so the last change of a key stays.
type changes struct {
	operations []clientv3.Op
	places     map[string]int
	bytes      int
}

func newChanges() *changes { return &changes{places: map[string]int{}} }

func (c *changes) add(operation clientv3.Op) {
	key := string(operation.KeyBytes())
	c.bytes += len(key) + len(operation.ValueBytes())
	if place, found := c.places[key]; found {
		c.operations[place] = operation
		return
	}
	c.places[key] = len(c.operations)
	c.operations = append(c.operations, operation)
}

// commit makes the changes where all conditions hold.
func (c *changes) commit(client *clientv3.Client, conditions ...clientv3.Cmp) error {
	defer c.forget()
	switch {
	case len(c.operations) == 0:
		return nil
	case len(c.operations) == 1 && len(conditions) == 0:
		_, err := client.Do(context.Background(), c.operations[0])
		return err
	}
	answer, err := client.Txn(context.Background()).If(conditions...).Then(c.operations...).Commit()
	if err == nil && !answer.Succeeded {
		err = errChanged
	}
	return err
}

func (c *changes) forget() {
	clear(c.places)
	c.operations, c.bytes = c.operations[:0], 0
}

// Get has one revision for all lookups where they share one; else each is a read of what was committed before it.
func (d *Database) Get(lookups *runner.Lookups, watch *runner.Latency) (found runner.Found, err error) {
	reads := d.reads
	err = lookups.Turns.Parts(0, lookups.Keys.Len(), 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			answer, err := d.client.Get(context.Background(), d.key(lookups.Keys.Get(place)), reads...)
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
			reads = d.shared(lookups, reads, answer)
			for _, pair := range answer.Kvs {
				found.Add(len(pair.Value))
			}
		}
		return nil
	})
	return found, err
}

// shared are the options of the next read, after the answer to one.
func (d *Database) shared(lookups *runner.Lookups, reads []clientv3.OpOption, answer *clientv3.GetResponse) []clientv3.OpOption {
	if !lookups.InOne || len(reads) > len(d.reads) {
		return reads
	}
	return append(d.reads[:len(d.reads):len(d.reads)], clientv3.WithRev(answer.Header.Revision))
}

func (d *Database) Range(ranges *runner.Ranges, watch *runner.Latency) (found runner.Found, err error) {
	within := append(d.reads[:len(d.reads):len(d.reads)], clientv3.WithRange(endOf(d.prefix)), clientv3.WithLimit(int64(ranges.Length)))
	var shared []clientv3.OpOption
	err = ranges.Turns.Parts(0, ranges.Keys.Len(), 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			answer, err := d.client.Get(context.Background(), d.key(ranges.Keys.Get(place)), append(within[:len(within):len(within)], shared...)...)
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
			if ranges.InOne && shared == nil {
				shared = []clientv3.OpOption{clientv3.WithRev(answer.Header.Revision)}
			}
			for _, pair := range answer.Kvs {
				found.Add(len(pair.Value))
			}
		}
		return nil
	})
	return found, err
}

// ScanPairs fetches a page at a time, all at one revision.
func (d *Database) ScanPairs(visit func(key, value []byte)) error {
	from, end := d.prefix, endOf(d.prefix)
	options := append(d.reads[:len(d.reads):len(d.reads)], clientv3.WithRange(end), clientv3.WithLimit(pageOf))
	for revision := int64(0); ; {
		page, err := d.client.Get(context.Background(), from, append(options[:len(options):len(options)], clientv3.WithRev(revision))...)
		if err != nil {
			return err
		}
		for _, pair := range page.Kvs {
			visit(pair.Key[len(d.prefix):], pair.Value)
		}
		if !page.More {
			return nil
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

func (d *Database) Value(key []byte) ([]byte, error) {
	answer, err := d.client.Get(context.Background(), d.key(key))
	if err != nil || len(answer.Kvs) == 0 {
		return nil, err
	}
	// An empty value is one that is there.
	return append([]byte{}, answer.Kvs[0].Value...), nil
}

func (d *Database) Visit(from []byte, length int, visit func(value []byte)) error {
	answer, err := d.client.Get(context.Background(), d.key(from), clientv3.WithRange(endOf(d.prefix)), clientv3.WithLimit(int64(length)))
	if err != nil {
		return err
	}
	for _, pair := range answer.Kvs {
		visit(pair.Value)
	}
	return nil
}
