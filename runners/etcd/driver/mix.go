package driver

import (
	"context"
	"errors"
	"fmt"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// errChanged is a transaction of which another has changed what it read.
var errChanged = errors.New("another transaction has changed what this one read")

// client is a client of a mix; all share the connection, as the client's manual has it. What a transaction reads is of one
// revision, and what it puts is a request that changes nothing where another has changed since what was read.
type client struct {
	*Database
	prefix, end string
	operations  []protocol.MixStatement
	// purpose is that of the open transaction; nil without one.
	purpose *protocol.Purpose
	// revision is that of the open transaction's reads; 0 before the first.
	revision   int64
	conditions []clientv3.Cmp
	changes    *changes
}

// Session is a client.
func (d *Database) Session(int) (runner.Session, error) {
	return &client{Database: d, changes: newChanges()}, nil
}

func (c *client) Prepare(mix *protocol.Mix) error {
	operations, err := runner.StoreOperations(mix, "etcd")
	if err != nil {
		return err
	}
	c.operations, c.prefix = operations, prefixOf(mix.Store.Name)
	c.end = endOf(c.prefix)
	return nil
}

func (c *client) Run(statement int, values *runner.Values, answer *runner.Answer) error {
	operation := &c.operations[statement]
	bytes, err := runner.StoreKey([]byte(c.prefix), operation, values)
	if err != nil {
		return err
	}
	key := string(bytes)
	switch operation.Does {
	case protocol.Get:
		return c.read(key, answer)
	case protocol.Put:
		return c.put(key, runner.StoreValue(values.Get(operation.Parameters[1])))
	case protocol.Range:
		length, _ := values.Get(operation.Parameters[1]).(int64)
		return c.read(key, answer, clientv3.WithRange(c.end), clientv3.WithLimit(length))
	}
	return fmt.Errorf("this runner does not know the operation '%s'", operation.Does)
}

// read reads a key or a range of keys. The condition of a transaction is on all keys of the store behind the first one of
// a range: which of them the range has depends on those.
func (c *client) read(key string, answer *runner.Answer, of ...clientv3.OpOption) error {
	options := append(append([]clientv3.OpOption{}, c.reads...), of...)
	if c.revision > 0 {
		options = append(options, clientv3.WithRev(c.revision))
	}
	found, err := c.client.Get(context.Background(), key, options...)
	if err != nil {
		return err
	}
	if c.purpose != nil {
		if c.revision == 0 {
			c.revision = found.Header.Revision
		}
		unchanged := clientv3.Compare(clientv3.ModRevision(key), "<", c.revision+1)
		if len(of) > 0 {
			unchanged = unchanged.WithRange(c.end)
		}
		c.conditions = append(c.conditions, unchanged)
	}
	for _, pair := range found.Kvs {
		answer.Blob(pair.Value)
		answer.EndRow()
	}
	return nil
}

func (c *client) put(key string, value []byte) error {
	c.changes.add(clientv3.OpPut(key, string(value)))
	if c.purpose != nil {
		return nil
	}
	return c.changes.commit(c.client)
}

func (c *client) Begin(purpose protocol.Purpose) error {
	c.forget()
	c.purpose = &purpose
	return nil
}

// Commit compares what was read and puts what is to be put. Where nothing is put, all was read at one revision.
func (c *client) Commit() error {
	err := c.changes.commit(c.client, c.conditions...)
	c.forget()
	return err
}

func (c *client) Rollback() error {
	c.forget()
	return nil
}

func (c *client) forget() {
	c.purpose, c.revision, c.conditions = nil, 0, c.conditions[:0]
	c.changes.forget()
}

// MayPass: a transaction that read what another has changed succeeds when it reads anew.
func (c *client) MayPass(err error) bool { return errors.Is(err, errChanged) }

// Close ends the client, and not the connection that all share.
func (c *client) Close() error { return c.Rollback() }
