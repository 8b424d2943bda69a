package pebble

import (
	"errors"
	"fmt"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/cockroachdb/pebble/v2"
)

// client is a client of a mix. Pebble has batches and no transactions: what a transaction reads is what has been
// committed, and what it puts is one batch.
type client struct {
	*Database
	prefix     []byte
	operations []protocol.MixStatement
	// batch is the batch of the open transaction; nil without one.
	batch *pebble.Batch
	// key is room for a key behind the store's prefix.
	key []byte
}

// Session is a client: they all share the database.
func (d *Database) Session(int) (runner.Session, error) { return &client{Database: d}, nil }

func (c *client) Prepare(mix *protocol.Mix) error {
	operations, err := runner.StoreOperations(mix, "Pebble")
	if err != nil {
		return err
	}
	c.operations, c.prefix = operations, prefixOf(mix.Store.Name)
	return nil
}

func (c *client) Run(statement int, values *runner.Values, answer *runner.Answer) (err error) {
	operation := &c.operations[statement]
	if c.key, err = runner.StoreKey(append(c.key[:0], c.prefix...), operation, values); err != nil {
		return err
	}
	switch operation.Does {
	case protocol.Get:
		return c.get(answer)
	case protocol.Put:
		return c.put(runner.StoreValue(values.Get(operation.Parameters[1])))
	case protocol.Range:
		length, _ := values.Get(operation.Parameters[1]).(int64)
		return c.visit(length, answer)
	}
	return fmt.Errorf("this runner does not know the operation '%s'", operation.Does)
}

func (c *client) get(answer *runner.Answer) error {
	value, closer, err := c.db.Get(c.key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	answer.Blob(value)
	answer.EndRow()
	return closer.Close()
}

func (c *client) put(value []byte) error {
	if c.batch != nil {
		return c.batch.Set(c.key, value, nil)
	}
	return c.db.Set(c.key, value, c.write)
}

func (c *client) visit(length int64, answer *runner.Answer) (err error) {
	pairs, err := c.db.NewIter(bounds(c.prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pairs.Close()) }()
	for there := pairs.SeekGE(c.key); there && length > 0; length-- {
		value, err := pairs.ValueAndErr()
		if err != nil {
			return err
		}
		answer.Blob(value)
		answer.EndRow()
		there = length > 1 && pairs.Next()
	}
	return pairs.Error()
}

func (c *client) Begin(purpose protocol.Purpose) error {
	if purpose == protocol.Write {
		c.batch = c.db.NewBatch()
	}
	return nil
}

func (c *client) Commit() error {
	if c.batch == nil {
		return nil
	}
	batch := c.batch
	c.batch = nil
	if err := batch.Commit(c.write); err != nil {
		return err
	}
	return batch.Close()
}

func (c *client) Rollback() error {
	if c.batch == nil {
		return nil
	}
	batch := c.batch
	c.batch = nil
	return batch.Close()
}

// MayPass: nothing that Pebble refuses succeeds a second time.
func (c *client) MayPass(error) bool { return false }

// Close ends the client, and not the database that all share.
func (c *client) Close() error { return c.Rollback() }
