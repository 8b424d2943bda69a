package runner

import (
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// work is what a model does: its input loaded, its work between two readings of the clock, its answer.
type work interface {
	// perform loads the input and does the work. What the timed section itself returns is in the answer.
	perform(t *trial) (protocol.Sample, error)
	// readBack adds to the answer what the test left in the database, for models whose answer that is.
	readBack(t *trial) error
	// release gives the input back.
	release()
}

// workOf is the work of a test, if the driver can do it.
func workOf(test *protocol.Test, t *trial) (work, error) {
	switch test.Model {
	case "statements":
		if driver, ok := t.driver.(Statements); ok {
			return &statementsWork{test: test, driver: driver}, nil
		}
	case "insert-rows", "bulk-load":
		if driver, ok := t.driver.(Rows); ok {
			return newLoadWork(test, driver)
		}
	case "scan":
		if driver, ok := t.driver.(Rows); ok {
			return newScanWork(test, driver)
		}
	case "kv-put", "kv-get", "kv-scan", "kv-range", "kv-delete", "kv-settle":
		if driver, ok := t.driver.(KeyValue); ok {
			return newKVWork(test, driver)
		}
	case "mix":
		if driver, ok := t.driver.(Sessions); ok {
			test.Mix.Store = test.Store
			return &mixWork{mix: &test.Mix, driver: driver}, nil
		}
	default:
		return nil, fmt.Errorf("this runner does not know the model '%s'", test.Model)
	}
	return nil, unsupported(test.Model)
}

// missing says that a test lacks what its model needs.
func missing(test *protocol.Test, field string) error {
	return fmt.Errorf("the job's test of the model %s has no `%s`: this is an error in dyno", test.Model, field)
}

// timedOf is how many of count operations are timed.
func timedOf(test *protocol.Test, count int) int {
	if test.Timed == nil {
		return count
	}
	return max(min(*test.Timed, count), 0)
}

// perCommitOf is how many of count operations make a transaction.
func perCommitOf(test *protocol.Test, count int) int {
	if test.PerCommit == nil || *test.PerCommit <= 0 {
		return max(count, 1)
	}
	return *test.PerCommit
}

// statementsWork is the model statements.
type statementsWork struct {
	test   *protocol.Test
	driver Statements
	list   *StatementList
}

func (w *statementsWork) perform(t *trial) (protocol.Sample, error) {
	var err error
	if w.list, err = mapStatements(w.test.File, w.test.Count); err != nil {
		return protocol.Sample{}, err
	}
	before, err := w.driver.Changes()
	if err != nil {
		return protocol.Sample{}, err
	}
	count := w.list.Len()
	sample, err := t.clock.time(count, func(turns *Turns) error {
		return turns.Parts(0, count, 1, func(from, to int) error { return w.driver.Statements(w.list, from, to, t.answer) })
	})
	if err != nil {
		return sample, w.explain(err)
	}
	after, err := w.driver.Changes()
	sample.Operations, sample.Rows, sample.Bytes = count, t.answer.Rows()+max(after-before, 0), w.list.Bytes()
	return sample, err
}

func (w *statementsWork) explain(err error) error {
	failure, ok := err.(*Failure)
	if !ok {
		return err
	}
	return fmt.Errorf("statement %d of %d (%s): %w", failure.Index+1, w.list.Len(), quote(w.list.Get(failure.Index)), failure.Err)
}

func (w *statementsWork) readBack(*trial) error { return nil }

func (w *statementsWork) release() { w.list.release() }
