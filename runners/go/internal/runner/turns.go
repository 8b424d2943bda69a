package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"dyno/runners/go/internal/protocol"
)

// Turns are those of one timed section: a test is done in slices, and between them the clock stands while others
// work. A nil one, of a job without turns, gives everything at once.
type Turns struct {
	clock *clock
	// of is how many operations the section has, done how many of them it has done, left how many its turn has left.
	of, done, left int
	// section is what the slices so far came to, start when the one at work began.
	section protocol.Section
	start   time.Time
	// percent is the collector's own setting.
	percent int
}

// Parts calls work for one part of the operations after another, from one place to another: as many at a time as turns
// allow, or all of them. A call that does each operations is not parted.
func (t *Turns) Parts(from, to, each int, work func(from, to int) error) error {
	for from < to {
		part, err := t.take(to-from, each)
		if err != nil {
			return err
		}
		if err := work(from, from+part); err != nil {
			return err
		}
		from += part
	}
	return nil
}

// take is how many of the operations wanted are to be done before this is asked again. Where a turn is used up, it
// waits for the next.
func (t *Turns) take(wanted, each int) (int, error) {
	if t == nil {
		return wanted, nil
	}
	if t.left == 0 {
		t.pause()
		if err := t.wait(); err != nil {
			return 0, err
		}
	}
	part := min(max(t.left-t.left%each, each), wanted)
	t.left = max(t.left-part, 0)
	t.done += part
	return part, nil
}

// begin waits for the first turn. Nothing has been left to collect.
func (t *Turns) begin() error {
	t.percent = debug.SetGCPercent(-1)
	return t.wait()
}

// wait reports the section's progress, waits for a turn and starts the clock.
func (t *Turns) wait() error {
	err := t.clock.giver.ask(t)
	debug.SetGCPercent(t.percent)
	t.clock.gauge.begin()
	t.start = time.Now()
	return err
}

// pause stops the clock where a turn is used up. A collection that goes on ends within the slice that caused it: the
// collector's threads would else take the time of others, and no clock would see it.
func (t *Turns) pause() {
	debug.SetGCPercent(-1)
	t.stop()
}

// stop stops the clock.
func (t *Turns) stop() { t.section.Add(t.clock.end(t.start)) }

// giver is the source of turns.
type giver struct {
	input  *bufio.Reader
	events *events
}

// ask says how far a section is and reads a turn.
func (g *giver) ask(t *Turns) error {
	waiting := protocol.Waiting{Done: t.done, Of: t.of, Nanoseconds: t.section.Nanoseconds}
	if err := g.events.send("waiting", waiting); err != nil {
		return err
	}
	line, err := g.input.ReadBytes('\n')
	if len(line) == 0 {
		return fmt.Errorf("standard input ended where a turn was expected (%w)", err)
	}
	var turn struct{ Operations int }
	if err := json.Unmarshal(line, &turn); err != nil {
		return fmt.Errorf("%q is no turn: %w", line, err)
	}
	if turn.Operations <= 0 {
		return errors.New("a turn of no operations was given")
	}
	t.left = turn.Operations
	return nil
}
