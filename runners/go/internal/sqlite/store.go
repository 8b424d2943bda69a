package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

var background = context.Background()

// store is a table of keys and values with the statements on it, prepared once.
type store struct {
	name                                          string
	isInteger                                     bool
	insert, overwrite, get, scan, visit, deletion *sql.Stmt
}

// OpenStore makes the table where it is missing: intkey(k INTEGER PRIMARY KEY, v BLOB), or
// blobkey(k BLOB PRIMARY KEY, v BLOB).
func (d *Database) OpenStore(asked *protocol.Store) error {
	if d.store != nil && d.store.name == asked.Name {
		return nil
	}
	if err := d.store.close(); err != nil {
		return err
	}
	kind := map[string]string{"integer": "INTEGER", "blob": "BLOB"}[asked.Key]
	if kind == "" {
		return fmt.Errorf("the job's store %s has keys of the unknown kind '%s': this is an error in dyno", asked.Name, asked.Key)
	}
	if err := d.conn.Exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s(k %s PRIMARY KEY, v BLOB)", asked.Name, kind)); err != nil {
		return err
	}
	made := &store{name: asked.Name, isInteger: asked.Key == "integer"}
	for _, statement := range []struct {
		prepared **sql.Stmt
		text     string
	}{
		{&made.insert, "INSERT INTO %s(k, v) VALUES(?, ?)"},
		{&made.overwrite, "REPLACE INTO %s(k, v) VALUES(?, ?)"},
		{&made.get, "SELECT v FROM %s WHERE k = ?"},
		{&made.scan, "SELECT k, v FROM %s ORDER BY k"},
		{&made.visit, "SELECT v FROM %s WHERE k >= ? ORDER BY k LIMIT ?"},
		{&made.deletion, "DELETE FROM %s WHERE k = ?"},
	} {
		var err error
		if *statement.prepared, err = d.conn.Prepare(fmt.Sprintf(statement.text, asked.Name)); err != nil {
			return err
		}
	}
	d.store = made
	return nil
}

func (s *store) close() (err error) {
	if s == nil {
		return nil
	}
	for _, statement := range []*sql.Stmt{s.insert, s.overwrite, s.get, s.scan, s.visit, s.deletion} {
		if after := statement.Close(); err == nil {
			err = after
		}
	}
	return err
}

// key is a key as SQLite is given it.
func (s *store) key(key []byte) any {
	if s.isInteger {
		return int64(binary.BigEndian.Uint64(key))
	}
	return key
}

func (d *Database) Put(put *runner.Put, watch *runner.Latency) (int, error) {
	statement := d.store.insert
	if put.Overwrite {
		statement = d.store.overwrite
	}
	return d.change(put.Keys.Len(), put.PerCommit, watch, func(place int) (sql.Result, error) {
		return statement.ExecContext(background, d.store.key(put.Keys.Get(place)), put.Values.Get(place))
	})
}

func (d *Database) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	return d.change(del.Keys.Len(), del.PerCommit, watch, func(place int) (sql.Result, error) {
		return d.store.deletion.ExecContext(background, d.store.key(del.Keys.Get(place)))
	})
}

// change does operations in transactions. A single one is a transaction by itself.
func (d *Database) change(count, perCommit int, watch *runner.Latency, operation func(int) (sql.Result, error)) (int, error) {
	done := 0
	err := runner.Transactions(count, perCommit, func(from, to int) error {
		work := func() error {
			for place := from; place < to; place++ {
				begin := watch.Begin()
				result, err := operation(place)
				watch.End(begin)
				if err != nil {
					return runner.At(place, err)
				}
				changed, err := result.RowsAffected()
				if err != nil {
					return runner.At(place, err)
				}
				done += int(changed)
			}
			return nil
		}
		if perCommit == 1 {
			return work()
		}
		return d.conn.Transaction(work)
	})
	return done, err
}

func (d *Database) Get(keys runner.Cells, watch *runner.Latency) (found runner.Found, err error) {
	for place := range keys.Len() {
		begin := watch.Begin()
		err := lengths(d.store.get, &found, d.store.key(keys.Get(place)))
		watch.End(begin)
		if err != nil {
			return found, runner.At(place, err)
		}
	}
	return found, nil
}

func (d *Database) Range(keys runner.Cells, length int, watch *runner.Latency) (found runner.Found, err error) {
	for place := range keys.Len() {
		begin := watch.Begin()
		err := lengths(d.store.visit, &found, d.store.key(keys.Get(place)), int64(length))
		watch.End(begin)
		if err != nil {
			return found, runner.At(place, err)
		}
	}
	return found, nil
}

// lengths adds up the lengths of the values that a query finds.
func lengths(query *sql.Stmt, found *runner.Found, values ...any) error {
	rows, err := query.QueryContext(background, values...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var value sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&value); err != nil {
			return err
		}
		found.Add(len(value))
	}
	return rows.Err()
}

func (d *Database) ScanPairs(visit func(key, value []byte)) error {
	rows, err := d.store.scan.QueryContext(background)
	if err != nil {
		return err
	}
	defer rows.Close()
	var (
		number     int64
		big        [8]byte
		key, value sql.RawBytes
		first      any = &key
	)
	if d.store.isInteger {
		first = &number
	}
	for rows.Next() {
		if err := rows.Scan(first, &value); err != nil {
			return err
		}
		if d.store.isInteger {
			binary.BigEndian.PutUint64(big[:], uint64(number))
			key = big[:]
		}
		visit(key, value)
	}
	return rows.Err()
}

func (d *Database) Value(key []byte) ([]byte, error) {
	var value []byte
	err := d.store.get.QueryRowContext(background, d.store.key(key)).Scan(&value)
	if err == sql.ErrNoRows {
		return nil, nil
	}
	return value, err
}
