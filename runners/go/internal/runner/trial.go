package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"

	"dyno/runners/go/internal/protocol"
)

// trial is the tests of a job in order, each between two readings of the clock.
type trial struct {
	events *events
	// input is where turns come from.
	input *bufio.Reader
	// current is the test at work; empty before the first and after the last.
	current string
	job     *protocol.Job
	driver  Driver
	clock   *clock
	answer  *Answer
}

func (t *trial) run(job *protocol.Job, open Open) error {
	driver, hello, err := open(job)
	if err != nil {
		return err
	}
	t.job, t.driver = job, driver
	// After a failure the cause is reported, and not that something could not be removed.
	defer func() {
		if t.driver != nil {
			_ = t.driver.Close()
		}
	}()
	hello.Protocol, hello.Runner = protocol.Version, "go "+Version
	if hello.Build == nil {
		hello.Build = map[string][]string{}
	}
	hello.Build["go"] = []string{runtime.Version()}
	hello.Settings = append([]protocol.Setting{}, hello.Settings...)
	if err := t.events.send("hello", hello); err != nil {
		return err
	}
	var turns *giver
	if job.Turns {
		turns = &giver{t.input, t.events}
	}
	if t.clock, err = newClock(job, turns); err != nil {
		return err
	}
	t.answer = residentAnswer()
	for place := range job.Tests {
		test := &job.Tests[place]
		t.current = test.ID
		do := t.test
		if job.AnswersOnly {
			do = t.answerOnly
		}
		if err := do(test); err != nil {
			return err
		}
	}
	t.current = ""
	driver, t.driver = t.driver, nil
	if err := driver.Close(); err != nil {
		return fmt.Errorf("the database did not close: %w", err)
	}
	return t.events.send("bye", struct{}{})
}

// answerOnly asks what a test of another job has left.
func (t *trial) answerOnly(test *protocol.Test) error {
	if err := t.progress(test); err != nil {
		return err
	}
	t.answer.begin(true)
	if test.Check != nil {
		if err := t.query("the check query", *test.Check); err != nil {
			return err
		}
		return t.events.sendAnswer(test.ID, t.answer)
	}
	work, err := workOf(test, t)
	if err != nil {
		return err
	}
	defer work.release()
	if err := work.readBack(t); err != nil {
		return Place("reading back what is stored", err)
	}
	return t.events.sendAnswer(test.ID, t.answer)
}

// progress says that a test begins.
func (t *trial) progress(test *protocol.Test) error {
	return t.events.send("progress", struct {
		Test string `json:"test"`
	}{test.ID})
}

func (t *trial) test(test *protocol.Test) error {
	// The reader of this may be at work for a moment, on the same processor perhaps: so it goes out before
	// the input is loaded and not just before the clock starts.
	if err := t.progress(test); err != nil {
		return err
	}
	for _, sql := range test.Setup {
		if err := t.query("the setup", sql); err != nil {
			return err
		}
	}
	t.answer.begin(test.Check == nil)
	work, err := workOf(test, t)
	if err != nil {
		return err
	}
	sample, err := work.perform(t)
	if err != nil {
		return err
	}
	sample.Test = test.ID
	if t.job.Joins() {
		// The process that was joined looks at what all have left.
		work.release()
		return t.events.send("sample", sample)
	}
	if sample.DatabaseBytes, err = t.databaseBytes(); err != nil {
		return err
	}
	if err := t.events.send("sample", sample); err != nil {
		return err
	}
	if test.Check != nil {
		if err = t.query("the check query", *test.Check); err != nil {
			err = t.failing(work, err)
		}
	} else {
		err = Place("reading back what is stored", work.readBack(t))
	}
	if err != nil {
		return err
	}
	work.release()
	return t.events.sendAnswer(test.ID, t.answer)
}

// failing is why the check of several things that must hold failed: the first of its queries that fails alone.
func (t *trial) failing(work work, err error) error {
	mix, ok := work.(*mixWork)
	if !ok {
		return err
	}
	for _, one := range mix.mix.Queries {
		if err := t.query("the invariant "+one.Says, one.Query); err != nil {
			return err
		}
	}
	return err
}

// query runs a statement outside the clock; its rows are the answer.
func (t *trial) query(what, sql string) error {
	driver, ok := t.driver.(Statements)
	if !ok {
		return fmt.Errorf("%s (%s): this driver has no SQL", what, quote(sql))
	}
	t.answer.begin(true)
	if err := driver.Query(sql, t.answer); err != nil {
		return fmt.Errorf("%s (%s): %w", what, quote(sql), err)
	}
	return nil
}

func (t *trial) databaseBytes() (int64, error) {
	if driver, ok := t.driver.(Sized); ok {
		bytes, err := driver.DatabaseBytes()
		return bytes, Place("cannot read the size of the database", err)
	}
	bytes, err := folderBytes(t.job.Directory)
	return bytes, Place("cannot add up the database's files", err)
}

// blockBytes is what the kernel counts blocks of files in.
const blockBytes = 512

// folderBytes is the sizes of all files in a folder and below, holes left out: engines make files longer than what
// is in them. A file that goes away meanwhile counts nothing.
func folderBytes(folder string) (int64, error) {
	sum := int64(0)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			size := info.Size()
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				size = min(size, stat.Blocks*blockBytes)
			}
			sum += size
		}
		return ignoreGone(err)
	})
	return sum, err
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
