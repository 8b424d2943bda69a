package runner

import (
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// loadWork is the models insert-rows and bulk-load.
type loadWork struct {
	test   *protocol.Test
	driver Rows
	way    func(load *Load) (int, error)
	rows   Cells
	mapped mapping
	loaded bool
}

func newLoadWork(test *protocol.Test, driver Rows) (work, error) {
	if test.Rows == nil || len(test.Rows.Columns) == 0 {
		return nil, missing(test, "rows")
	}
	work := &loadWork{test: test, driver: driver, way: driver.BulkLoad}
	if test.Model == "insert-rows" {
		work.way = driver.InsertRows
	}
	return work, nil
}

// load maps the rows, once.
func (w *loadWork) load() (err error) {
	if w.loaded {
		return nil
	}
	width := 0
	for _, column := range w.test.Rows.Columns {
		width += column.Bytes
	}
	w.rows, w.mapped, err = mapCells(w.test.Rows.File, w.test.Rows.Count, width)
	w.loaded = err == nil
	return err
}

func (w *loadWork) perform(t *trial) (protocol.Sample, error) {
	if err := w.load(); err != nil {
		return protocol.Sample{}, err
	}
	count := w.rows.Len()
	timed := timedOf(w.test, count)
	load := w.part(0, timed, perCommitOf(w.test, timed))
	done := 0
	sample, err := t.clock.time(timed, func(turns *Turns) (err error) {
		load.Turns = turns
		done, err = w.way(load)
		return err
	})
	if err != nil {
		return sample, explain(err, "row", timed)
	}
	if done != timed {
		return sample, fmt.Errorf("%d rows were loaded and %d were to be: the driver lost some", done, timed)
	}
	if timed < count {
		if _, err := w.way(w.part(timed, count, count)); err != nil {
			return sample, explain(err, "row (after the clock)", count-timed)
		}
	}
	sample.Operations, sample.Rows, sample.Bytes = done, done, len(load.Rows.Bytes())
	return sample, nil
}

func (w *loadWork) part(from, to, perCommit int) *Load {
	return &Load{Table: w.test.Table, Columns: w.test.Rows.Columns, Rows: w.rows.Slice(from, to), PerCommit: perCommit}
}

// readBack is the table's digest, and its first, middle and last row as found by their first cell.
func (w *loadWork) readBack(t *trial) error {
	if err := w.load(); err != nil {
		return err
	}
	var wanted [][]byte
	if count := w.rows.Len(); count > 0 {
		for _, place := range []int{0, count / 2, count - 1} {
			wanted = append(wanted, w.rows.Get(place)[:w.test.Rows.Columns[0].Bytes])
		}
	}
	digest := newTableDigest(len(w.test.Rows.Columns), wanted)
	if err := w.driver.ReadRows(w.test.Table, w.test.Rows.Columns, digest.add); err != nil {
		return err
	}
	t.answer.begin(true)
	digest.report(t.answer)
	return nil
}

func (w *loadWork) release() { w.mapped.release() }

// scanWork is the model scan.
type scanWork struct {
	driver Rows
	scan   Scan
}

func newScanWork(test *protocol.Test, driver Rows) (work, error) {
	if len(test.Differ) != 2 {
		return nil, missing(test, "differ")
	}
	scan := Scan{Table: test.Table, Columns: test.Columns, Differ: [2]int(test.Differ), SQL: test.SQL}
	for _, column := range scan.Differ {
		if column < 0 || column >= len(test.Columns) {
			return nil, fmt.Errorf("the scan compares column %d of %d: this is an error in dyno", column, len(test.Columns))
		}
	}
	return &scanWork{driver, scan}, nil
}

func (w *scanWork) perform(t *trial) (protocol.Sample, error) {
	sample, err := t.clock.time(1, func(*Turns) error { return w.driver.Scan(&w.scan, t.answer) })
	sample.Operations, sample.Rows = 1, t.answer.Rows()
	return sample, Place("the scan", err)
}

func (w *scanWork) readBack(*trial) error { return nil }

func (w *scanWork) release() {}
