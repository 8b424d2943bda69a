package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dyno/runners/go/internal/protocol"
)

// beClientProcess is the life of a client that is a process: from its job on standard input to what it says on standard
// output. It returns 0 where it has done its part.
func beClientProcess(drivers map[string]Open, input io.Reader, output io.Writer) int {
	lines, says := json.NewDecoder(input), json.NewEncoder(output)
	err := guarded(func() error { return clientPart(drivers, lines, func(what said) error { return says.Encode(what) }) })
	// If the runner no longer reads, the trial has ended.
	if err != nil {
		_ = says.Encode(said{Failed: err.Error()})
		return 1
	}
	if says.Encode(said{Closed: true}) != nil {
		return 1
	}
	return 0
}

// clientPart does a client's part.
func clientPart(drivers map[string]Open, lines *json.Decoder, say func(said) error) error {
	var own clientJob
	if err := lines.Decode(&own); err != nil {
		return errors.New("a client is started by its runner, not by hand")
	}
	job, err := ReadJob(bufio.NewReader(bytes.NewReader(own.Job)))
	if err != nil {
		return err
	}
	test := slices.IndexFunc(job.Tests, func(test protocol.Test) bool { return test.ID == own.Test })
	open, err := find(drivers, job)
	if err != nil {
		return err
	}
	if test < 0 {
		return errors.New("a client's job has no mix: this is an error in the runner")
	}
	job.Joins, job.Turns, job.Slowdown = true, false, 0
	if job.Server != nil {
		// What a server's processes cost is counted once, by the process that starts the clients.
		job.Server.Process = 0
	}
	mix := &job.Tests[test].Mix
	mix.Clients, mix.Processes = 1, false
	if !own.Shares {
		mix.Steps = mix.Steps[own.Place : own.Place+1]
	}
	work := &mixWork{mix: mix, before: own.Place}
	if own.Shares {
		if work.next, err = mappedNumber(); err != nil {
			return err
		}
	}
	work.begin = func() (moment, error) {
		if err := say(said{Ready: true}); err != nil {
			return 0, err
		}
		var begins int64
		err := lines.Decode(&begins)
		return momentIn(time.Duration(begins - monotonic())), Place("nobody says when to begin", err)
	}
	driver, _, err := open(job)
	if err != nil {
		return fmt.Errorf("client %d: %w", own.Place+1, err)
	}
	sample, err := work.asClient(job, driver)
	if err == nil {
		err = say(said{Done: &sample})
	}
	if err == nil {
		// Until the runner closes its input.
		for lines.Decode(&struct{}{}) == nil {
		}
	}
	if after := driver.Close(); err == nil && after != nil {
		err = fmt.Errorf("client %d did not close the database: %w", own.Place+1, after)
	}
	return err
}

// asClient does the part of this process by a driver of its own.
func (w *mixWork) asClient(job *protocol.Job, driver Driver) (sample protocol.Sample, err error) {
	var ok bool
	if w.driver, ok = driver.(Sessions); !ok {
		return sample, unsupported("mix")
	}
	clock, err := newClock(job, nil)
	if err != nil {
		return sample, err
	}
	if err := w.load(); err != nil {
		return sample, err
	}
	sample, all, err := w.part(&trial{clock: clock, job: job})
	if err != nil {
		return sample, err
	}
	sample.Classes, sample.Ticks = told(all, w.names), w.board.told(w.names)
	return sample, nil
}

// mappedNumber is the number in memory that all clients share.
func mappedNumber() (*atomic.Int64, error) {
	memory, err := unix.Mmap(sharedFile, 0, int(unsafe.Sizeof(atomic.Int64{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot share memory with other clients: %w", err)
	}
	return (*atomic.Int64)(unsafe.Pointer(&memory[0])), nil
}
