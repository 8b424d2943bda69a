package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"dyno/runners/go/internal/protocol"
)

// Lasting is a driver whose database outlives a close: Open with the same job finds it again.
type Lasting interface {
	// Lasts says whether this one does.
	Lasts() bool
}

// Reconnecting is a driver of a server, which keeps the trial's database when no client is connected to it.
type Reconnecting interface {
	// Reconnect closes the connection to the database and opens another, with the settings in force.
	Reconnect() error
}

// left is what a test left: its answer, as JSON.
type left struct {
	test *protocol.Test
	rows string
}

// lasting is the tests, by their places, whose answers must be the same at the end, because nothing later changes what
// they are about: the last that wrote to each store or table. Statements may change anything, so only a check of the
// last of them counts, and what was written before them does not.
func lasting(tests []protocol.Test) (places []int) {
	seen := map[string]bool{}
	for place := len(tests) - 1; place >= 0; place-- {
		test := &tests[place]
		var names []string
		switch test.Model {
		case "statements", "mix":
			if len(seen) == 0 && test.Check != nil {
				places = append(places, place)
			}
			return places
		case "kv-put", "kv-delete":
			if test.Store != nil {
				names = []string{test.Store.Name}
			}
		case "kv-settle":
			for _, store := range test.Stores {
				names = append(names, store.Name)
			}
		case "insert-rows", "bulk-load":
			names = []string{test.Table}
		}
		if slices.ContainsFunc(names, func(name string) bool { return !seen[name] }) {
			places = append(places, place)
		}
		for _, name := range names {
			seen[name] = true
		}
	}
	return places
}

// keep is what the answer of a test is now.
func (t *trial) keep(test *protocol.Test) (left, error) {
	rows, err := json.Marshal(t.answer.Kept())
	return left{test, string(rows)}, err
}

// readAgain closes the database, opens it again and holds what is there against what tests left. All of it is outside
// the clock. A database in memory is left as it is.
func (t *trial) readAgain(open Open, all []left) error {
	if len(all) == 0 {
		return nil
	}
	if reopened, err := t.reopen(open); err != nil || !reopened {
		return err
	}
	for _, before := range all {
		if err := t.askAgain(before.test); err != nil {
			return fmt.Errorf("test %s, after the database was opened again: %w", before.test.ID, err)
		}
		now, err := t.keep(before.test)
		if err != nil {
			return err
		}
		if now.rows != before.rows {
			return fmt.Errorf("the database was closed and opened again, and what test %s had left is not there: %.200s was "+
				"read before and %.200s now. What a commit survives is not what its settings say, or the engine shows what it "+
				"did not write", before.test.ID, before.rows, now.rows)
		}
	}
	return nil
}

// reopen closes the database and opens it again, and says whether it did; of a server, that is the connection.
func (t *trial) reopen(open Open) (bool, error) {
	switch driver := t.driver.(type) {
	case Reconnecting:
		if err := driver.Reconnect(); err != nil {
			return false, fmt.Errorf("the connection was closed and does not open again: %w", err)
		}
		return true, nil
	case Lasting:
		if !driver.Lasts() {
			return false, nil
		}
	default:
		return false, nil
	}
	closing := t.driver
	t.driver = nil
	if err := closing.Close(); err != nil {
		return false, fmt.Errorf("the database did not close: %w", err)
	}
	opened, _, err := open(t.job)
	if err != nil {
		return false, fmt.Errorf("the database was closed and does not open again: %w", err)
	}
	t.driver = opened
	return true, nil
}

// askAgain asks once more what a test left.
func (t *trial) askAgain(test *protocol.Test) error {
	if test.Check != nil {
		return t.query("the check query", *test.Check)
	}
	work, err := workOf(test, t)
	if err != nil {
		return err
	}
	defer work.release()
	return work.readBack(t)
}
