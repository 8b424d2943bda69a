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
	create := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s(k %s PRIMARY KEY, v BLOB)", asked.Name, kind)
	if d.way == wayWithoutRowid {
		create += " WITHOUT ROWID"
	}
	if err := d.conn.Exec(create); err != nil {
		return err
	}
	made := &store{name: asked.Name, isInteger: asked.Key == "integer"}
	for _, statement := range []struct {
		prepared **sql.Stmt
		text     string
	}{
		{&made.insert, "INSERT INTO %s(k, v) VALUES(?, ?)"},
		{&made.overwrite, "UPDATE %s SET v = ? WHERE k = ?"},
		{&made.get, "SELECT v FROM %s WHERE k = ?"},
		{&made.scan, "SELECT k, v FROM %s ORDER BY k"},
		{&made.visit, "SELECT k, v FROM %s WHERE k >= ? ORDER BY k LIMIT ?"},
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
	if put.Overwrite {
		return d.change(put.Keys.Len(), put.PerCommit, put.Turns, watch, func(place int) (sql.Result, error) {
			return d.store.overwrite.ExecContext(background, put.Values.Get(place), d.store.key(put.Keys.Get(place)))
		})
	}
	return d.change(put.Keys.Len(), put.PerCommit, put.Turns, watch, func(place int) (sql.Result, error) {
		return d.store.insert.ExecContext(background, d.store.key(put.Keys.Get(place)), put.Values.Get(place))
	})
}

func (d *Database) Delete(del *runner.Delete, watch *runner.Latency) (int, error) {
	return d.change(del.Keys.Len(), del.PerCommit, del.Turns, watch, func(place int) (sql.Result, error) {
		return d.store.deletion.ExecContext(background, d.store.key(del.Keys.Get(place)))
	})
}

// change does operations in transactions: BEGIN belongs to the first operation of each and COMMIT to the
// last. A single one is a transaction.
func (d *Database) change(count, perCommit int, turns *runner.Turns, watch *runner.Latency,
	operation func(int) (sql.Result, error)) (int, error) {
	done := 0
	single := perCommit == 1
	step := func(place int) error {
		if !single && place%perCommit == 0 {
			if err := d.conn.Exec("BEGIN"); err != nil {
				return err
			}
		}
		result, err := operation(place)
		if err != nil {
			return err
		}
		changed, err := result.RowsAffected()
		done += int(changed)
		if err == nil && !single && ((place+1)%perCommit == 0 || place+1 == count) {
			err = d.conn.Exec("COMMIT")
		}
		return err
	}
	err := turns.Parts(0, count, 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			err := step(place)
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
		}
		return nil
	})
	return done, err
}

func (d *Database) ScanPairs(visit func(key, value []byte)) error {
	rows, err := d.store.scan.QueryContext(background)
	if err != nil {
		return err
	}
	defer rows.Close()
	var value sql.RawBytes
	var big [8]byte
	switch first := d.store.place().(type) {
	case *int64:
		for rows.Next() {
			if err := rows.Scan(first, &value); err != nil {
				return err
			}
			binary.BigEndian.PutUint64(big[:], uint64(*first))
			visit(big[:], value)
		}
	case *sql.RawBytes:
		for rows.Next() {
			if err := rows.Scan(first, &value); err != nil {
				return err
			}
			visit(*first, value)
		}
	}
	return rows.Err()
}
