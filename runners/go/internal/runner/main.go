package runner

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// Main reads a job from standard input, goes through it with the driver of its name, "engine/driver" or "protocol/driver", and
// writes events to standard output. It ends the process: with 0 after bye, with 1 after a failure, which
// has been reported in a failed event and on standard error.
func Main(drivers map[string]Open) {
	os.Exit(run(drivers, os.Stdin, os.Stdout))
}

func run(drivers map[string]Open, input io.Reader, output io.Writer) int {
	trial := &trial{events: newEvents(output), input: bufio.NewReader(input)}
	fatal.Store(trial)
	err := guarded(func() error {
		job, err := ReadJob(trial.input)
		if err != nil {
			return err
		}
		open, err := find(drivers, job)
		if err != nil {
			return err
		}
		return trial.run(job, open)
	})
	if err == nil {
		return 0
	}
	trial.fail(err)
	return 1
}

func find(drivers map[string]Open, job *protocol.Job) (Open, error) {
	served := job.Engine
	if job.Speaks != "" {
		served = job.Speaks
	}
	if open, ok := drivers[served+"/"+job.Driver]; ok {
		return open, nil
	}
	var names []string
	for name := range drivers {
		names = append(names, name)
	}
	sort.Strings(names)
	return nil, fmt.Errorf("this runner serves %s and the job asks for %s/%s", strings.Join(names, ", "), served, job.Driver)
}

// guarded turns a panic into an error.
func guarded(work func() error) (err error) {
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("the runner panicked, which is an error in the runner or the driver: %v", found)
		}
	}()
	return work()
}

// Place puts what was being done before an error.
func Place(place string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", place, err)
}

// explain names the operation that failed, as "row 7 of 100".
func explain(err error, what string, count int) error {
	var failure *Failure
	if errors.As(err, &failure) {
		return fmt.Errorf("%s %d of %d: %w", what, failure.Index+1, count, failure.Err)
	}
	return err
}
