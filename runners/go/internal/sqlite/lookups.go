package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// reads begins the transaction that lookups share, if they do, and is what ends it.
func (d *Database) reads(lookups *runner.Lookups) (func() error, error) {
	if !lookups.InOne {
		return func() error { return nil }, nil
	}
	return func() error { return d.conn.Exec("COMMIT") }, d.conn.Exec("BEGIN")
}

func (d *Database) Get(lookups *runner.Lookups, watch *runner.Latency) (found runner.Found, err error) {
	end, err := d.reads(lookups)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, end()) }()
	var value sql.RawBytes
	err = lookups.Turns.Parts(0, lookups.Keys.Len(), 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			err := lengths(d.store.get, &found, []any{&value}, &value, d.store.key(lookups.Keys.Get(place)))
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
		}
		return nil
	})
	return found, err
}

func (d *Database) Range(ranges *runner.Ranges, watch *runner.Latency) (found runner.Found, err error) {
	end, err := d.reads(&ranges.Lookups)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, end()) }()
	var value sql.RawBytes
	pair := []any{d.store.place(), &value}
	err = ranges.Turns.Parts(0, ranges.Keys.Len(), 1, func(from, to int) error {
		for place := from; place < to; place++ {
			begin := watch.Begin()
			err := lengths(d.store.visit, &found, pair, &value, d.store.key(ranges.Keys.Get(place)), int64(ranges.Length))
			watch.End(begin)
			if err != nil {
				return runner.At(place, err)
			}
		}
		return nil
	})
	return found, err
}

// place is where a key is put that is read.
func (s *store) place() any {
	if s.isInteger {
		return new(int64)
	}
	return new(sql.RawBytes)
}

// lengths reads the rows that a query finds and adds up the lengths of their values.
func lengths(query *sql.Stmt, found *runner.Found, row []any, value *sql.RawBytes, asked ...any) error {
	rows, err := query.QueryContext(background, asked...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return err
		}
		found.Add(len(*value))
	}
	return rows.Err()
}

// Visit is one range, outside the clock.
func (d *Database) Visit(from []byte, length int, visit func(value []byte)) error {
	rows, err := d.store.visit.QueryContext(background, d.store.key(from), int64(length))
	if err != nil {
		return err
	}
	defer rows.Close()
	var value sql.RawBytes
	pair := []any{d.store.place(), &value}
	for rows.Next() {
		if err := rows.Scan(pair...); err != nil {
			return err
		}
		visit(value)
	}
	return rows.Err()
}

// Settle moves the log into the database and waits until it is on the device. A connection that syncs nothing is set
// to do so meanwhile. With a journal that is all that there is to do, and SQLite syncs only where it writes: so it
// writes the version of its application once more, which nothing reads.
func (d *Database) Settle([]protocol.Store) error {
	synchronous, err := d.conn.Rows("PRAGMA synchronous")
	if err != nil {
		return err
	}
	lazy := fmt.Sprint(synchronous[0][0]) == "0"
	if lazy {
		if err := errors.Join(d.conn.Exec("PRAGMA synchronous = NORMAL"), d.conn.Exec("PRAGMA user_version = 0")); err != nil {
			return err
		}
	}
	checkpoint, err := d.conn.Rows("PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		return err
	}
	if busy := fmt.Sprint(checkpoint[0][0]); busy != "0" {
		return errors.New("the checkpoint was not whole: a reader uses the log")
	}
	if lazy {
		return d.conn.Exec("PRAGMA synchronous = OFF")
	}
	return nil
}

func (d *Database) Value(key []byte) ([]byte, error) {
	var value []byte
	err := d.store.get.QueryRowContext(background, d.store.key(key)).Scan(&value)
	if err == sql.ErrNoRows {
		return nil, nil
	}
	return value, err
}
