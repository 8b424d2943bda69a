package driver

import (
	"errors"
	"fmt"
	"strings"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/rqlite/gorqlite"
)

// changed begins what rqlite says where a condition of a commit does not hold.
const changed = "NOT NULL constraint failed"

// client is a client of a mix, which has a connection of the pool that all share. rqlite has no transaction of several
// requests. So what a transaction reads are single requests, and what it puts is one that changes nothing where a read would
// now return something else: it is as if all of it happened then.
type client struct {
	*Database
	store      *store
	operations []protocol.MixStatement
	// unless fails where the values that a query finds are not the expected ones; its place is that of the query.
	unless string
	// purpose is that of the open transaction; nil without one.
	purpose    *protocol.Purpose
	conditions []statement
	puts       []statement
}

// Session is a client.
func (d *Database) Session(int) (runner.Session, error) {
	if d.queued {
		return nil, errors.New("many clients do not work with queued writes, which a read does not find for a while: leave out queued=true")
	}
	return &client{Database: d}, nil
}

func (c *client) Prepare(mix *protocol.Mix) error {
	operations, err := runner.StoreOperations(mix, "rqlite")
	if err != nil {
		return err
	}
	if c.store, err = c.table(mix.Store); err != nil {
		return err
	}
	c.operations = operations
	c.unless = "INSERT INTO " + mix.Store.Name + "(v) SELECT NULL WHERE (SELECT group_concat(hex(v)) FROM (%s)) IS NOT ?"
	return nil
}

func (c *client) Run(at int, values *runner.Values, answer *runner.Answer) error {
	operation := &c.operations[at]
	bytes, err := runner.StoreKey(nil, operation, values)
	if err != nil {
		return err
	}
	key := c.store.key(bytes)
	switch operation.Does {
	case protocol.Get:
		return c.read(statement{Query: c.store.get, Arguments: []any{key}}, answer)
	case protocol.Range:
		return c.read(statement{Query: c.store.visit, Arguments: []any{key, values.Get(operation.Parameters[1])}}, answer)
	case protocol.Put:
		value := blob(runner.StoreValue(values.Get(operation.Parameters[1])))
		c.puts = append(c.puts, statement{Query: c.store.put, Arguments: []any{key, value}})
		if c.purpose == nil {
			return c.Commit()
		}
		return nil
	}
	return fmt.Errorf("this runner does not know the operation '%s'", operation.Does)
}

func (c *client) read(query statement, answer *runner.Answer) error {
	var expected []string
	err := c.values([]statement{query}, func(value []byte) {
		answer.Blob(value)
		answer.EndRow()
		if c.purpose != nil {
			expected = append(expected, fmt.Sprintf("%X", value))
		}
	})
	if err == nil && c.purpose != nil {
		c.conditions = append(c.conditions, c.condition(query, expected))
	}
	return err
}

// condition fails where a query no longer finds these values; without any there is nothing to concatenate, which is NULL.
func (c *client) condition(query statement, expected []string) statement {
	var all any
	if len(expected) > 0 {
		all = strings.Join(expected, ",")
	}
	return statement{Query: fmt.Sprintf(c.unless, query.Query), Arguments: append(query.Arguments[:len(query.Arguments):len(query.Arguments)], all)}
}

func (c *client) Begin(purpose protocol.Purpose) error {
	c.forget()
	c.purpose = &purpose
	return nil
}

// Commit compares what was read and puts what is to be put. One read is as it was at its own moment.
func (c *client) Commit() error {
	defer c.forget()
	if len(c.puts) == 0 && len(c.conditions) < 2 {
		return nil
	}
	_, err := c.conn.WriteParameterized(append(c.conditions, c.puts...))
	return err
}

func (c *client) Rollback() error {
	c.forget()
	return nil
}

func (c *client) forget() {
	c.purpose, c.conditions, c.puts = nil, c.conditions[:0], c.puts[:0]
}

// MayPass: a transaction that read what another has changed succeeds when it reads anew.
func (c *client) MayPass(err error) bool {
	var failed *gorqlite.StatementError
	return errors.As(err, &failed) && strings.HasPrefix(failed.Message, changed)
}

// Close ends the client, and not the connections that all share.
func (c *client) Close() error { return c.Rollback() }
