package driver

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/rqlite/gorqlite"
)

// pageOf is how many pairs a request of a scan fetches: the client has the answer to a request in memory as a whole.
const pageOf = 10_000

type statement = gorqlite.ParameterizedStatement

// store is a table of keys and values with the statements on it.
type store struct {
	isInteger                                                    bool
	insert, overwrite, put, deletion, get, visit, scan, scanNext string
}

// OpenStore opens the table.
func (d *Database) OpenStore(asked *protocol.Store) (err error) {
	d.store, err = d.table(asked)
	return err
}

// table makes a table where it is missing: k INTEGER PRIMARY KEY, or k BLOB PRIMARY KEY.
func (d *Database) table(asked *protocol.Store) (*store, error) {
	kind := map[string]string{"integer": "INTEGER", "blob": "BLOB"}[asked.Key]
	if kind == "" {
		return nil, fmt.Errorf("the job's store %s has keys of the unknown kind '%s': this is an error in dyno", asked.Name, asked.Key)
	}
	name, isInteger := asked.Name, asked.Key == "integer"
	_, err := d.conn.WriteOne(fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s(k %s PRIMARY KEY, v BLOB NOT NULL)", name, kind))
	if err != nil {
		return nil, err
	}
	key := "k"
	if isInteger {
		// The client takes a number for one of floating point, which has no room for all.
		key = "CAST(k AS TEXT)"
	}
	return &store{
		isInteger: isInteger,
		insert:    "INSERT INTO " + name + "(k, v) VALUES(?, ?)",
		overwrite: "UPDATE " + name + " SET v = ?2 WHERE k = ?1",
		put:       "INSERT INTO " + name + "(k, v) VALUES(?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v",
		deletion:  "DELETE FROM " + name + " WHERE k = ?",
		get:       "SELECT v FROM " + name + " WHERE k = ?",
		visit:     "SELECT v FROM " + name + " WHERE k >= ? ORDER BY k LIMIT ?",
		scan:      "SELECT " + key + ", v FROM " + name + " ORDER BY k LIMIT ?",
		scanNext:  "SELECT " + key + ", v FROM " + name + " WHERE k > ? ORDER BY k LIMIT ?",
	}, nil
}

// key is a key as rqlite is given it.
func (s *store) key(key []byte) any {
	if s.isInteger {
		return int64(binary.BigEndian.Uint64(key))
	}
	return blob(key)
}

// blob is bytes as a request in JSON has them: https://rqlite.io/docs/api/api/.
func blob(bytes []byte) string {
	text := make([]byte, 0, len("x''")+hex.EncodedLen(len(bytes)))
	return string(append(hex.AppendEncode(append(text, "x'"...), bytes), '\''))
}

func (d *Database) Put(put *runner.Put, watch *runner.Latency) (int, error) {
	query := d.store.insert
	if put.Overwrite {
		query = d.store.overwrite
	}
	return d.change(put.Keys.Len(), put.PerCommit, put.Turns, watch, func(place int) (statement, int) {
		key, value := put.Keys.Get(place), put.Values.Get(place)
		return statement{Query: query, Arguments: []any{d.store.key(key), blob(value)}}, len(key) + len(value)
	})
}

func (d *Database) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	return d.change(del.Keys.Len(), del.PerCommit, del.Turns, watch, func(place int) (statement, int) {
		key := del.Keys.Get(place)
		return statement{Query: d.store.deletion, Arguments: []any{d.store.key(key)}}, len(key)
	})
}

// change does statements, of which perCommit make a transaction. Where they are queued, it ends when
// the queue is empty: before that a read does not find them.
func (d *Database) change(count, perCommit int, turns *runner.Turns, watch *runner.Latency,
	make func(place int) (statement, int)) (int, error) {
	var statements []statement
	bytes := 0
	add := func(place int) bool {
		made, size := make(place)
		statements, bytes = append(statements, made), bytes+size
		return bytes >= largestRequest
	}
	send := func() error {
		err := d.write(statements)
		statements, bytes = statements[:0], 0
		return err
	}
	done, err := runner.Requests(count, perCommit, turns, watch, add, send)
	if err != nil {
		return done, err
	}
	return done, d.drain()
}

// write does statements as one transaction, or queues them.
func (d *Database) write(statements []statement) error {
	if d.queued {
		_, err := d.conn.QueueParameterized(statements)
		return err
	}
	_, err := d.conn.WriteParameterized(statements)
	return err
}

// drain waits until all that was queued is committed, by an empty write that waits:
// https://rqlite.io/docs/api/queued-writes/. The client has none.
func (d *Database) drain() error {
	if !d.queued {
		return nil
	}
	_, err := d.ask(http.MethodPost, d.nodes[0]+"/db/execute?queue&wait&timeout="+answerTimeout.String(), "[]")
	return err
}

// Get sends a request for each lookup. Lookups that share a transaction are one request, and the latency of each is that of
// the request.
func (d *Database) Get(lookups *runner.Lookups, watch *runner.Latency) (runner.Found, error) {
	return d.look(lookups, watch, func(place int) statement {
		return statement{Query: d.store.get, Arguments: []any{d.store.key(lookups.Keys.Get(place))}}
	})
}

func (d *Database) Range(ranges *runner.Ranges, watch *runner.Latency) (runner.Found, error) {
	return d.look(&ranges.Lookups, watch, func(place int) statement {
		return statement{Query: d.store.visit, Arguments: []any{d.store.key(ranges.Keys.Get(place)), ranges.Length}}
	})
}

func (d *Database) look(lookups *runner.Lookups, watch *runner.Latency, make func(place int) statement) (found runner.Found, err error) {
	each := 1
	if lookups.InOne {
		each = max(lookups.Keys.Len(), 1)
	}
	err = lookups.Turns.Parts(0, lookups.Keys.Len(), each, func(from, to int) error {
		var statements []statement
		for place := from; place < to; place += each {
			begin := watch.Begin()
			statements = statements[:0]
			for one := place; one < min(place+each, to); one++ {
				statements = append(statements, make(one))
			}
			err := d.values(statements, func(value []byte) { found.Add(len(value)) })
			for range statements {
				watch.End(begin)
			}
			if err != nil {
				return runner.At(place, err)
			}
		}
		return nil
	})
	return found, err
}

// values visits the values that queries of one request find, each of whose rows is one.
func (d *Database) values(statements []statement, visit func(value []byte)) error {
	results, err := d.conn.QueryParameterized(statements)
	if err != nil {
		return err
	}
	var text string
	for i := range results {
		for results[i].Next() {
			if err := results[i].Scan(&text); err != nil {
				return err
			}
			value, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return err
			}
			visit(value)
		}
	}
	return nil
}

// ScanPairs fetches a page at a time. What is put meanwhile may be in it or not.
func (d *Database) ScanPairs(visit func(key, value []byte)) error {
	next := statement{Query: d.store.scan, Arguments: []any{pageOf}}
	for {
		page, err := d.conn.QueryOneParameterized(next)
		if err != nil {
			return err
		}
		var key []byte
		var keyText, valueText string
		for page.Next() {
			if err := page.Scan(&keyText, &valueText); err != nil {
				return err
			}
			value, err := base64.StdEncoding.DecodeString(valueText)
			if err != nil {
				return err
			}
			if key, err = d.store.read(keyText); err != nil {
				return err
			}
			visit(key, value)
		}
		if page.NumRows() < pageOf {
			return nil
		}
		next = statement{Query: d.store.scanNext, Arguments: []any{d.store.key(key), pageOf}}
	}
}

// read is a key as an answer has it.
func (s *store) read(text string) ([]byte, error) {
	if !s.isInteger {
		return base64.StdEncoding.DecodeString(text)
	}
	number, err := strconv.ParseInt(text, 10, 64)
	return binary.BigEndian.AppendUint64(nil, uint64(number)), err
}

func (d *Database) Value(key []byte) (found []byte, err error) {
	get := statement{Query: d.store.get, Arguments: []any{d.store.key(key)}}
	err = d.values([]statement{get}, func(value []byte) { found = value })
	return found, err
}

func (d *Database) Visit(from []byte, length int, visit func(value []byte)) error {
	return d.values([]statement{{Query: d.store.visit, Arguments: []any{d.store.key(from), length}}}, visit)
}
