package runner

import (
	"fmt"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/runners/go/internal/protocol"
)

const (
	// tickNS is how long a tick is, in nanoseconds.
	tickNS = 1_000_000_000
	// tickDigits are the significant digits of a tick's histogram: two tell a stall, and take an eighth of the
	// memory of three.
	tickDigits = 2
)

// times is when an operation was due (0: as soon as its client was free), when its client was free for it,
// and when it was sent and done, in nanoseconds since the clients began.
type times struct{ due, free, sent, done int64 }

// counts is the operations of one class of one client.
type counts struct {
	done, failed, retried, undone int64
	// failure is why the first of those failed, where it was not for want of time.
	failure  string
	response durations
	// What else there is to tell of operations that are due at a time; nil where they are not.
	service, wait, late durations
}

// durations is a histogram of nanoseconds.
type durations struct{ *hdrhistogram.Histogram }

func newDurations(digits int) durations { return durations{hdrhistogram.New(1, longest, digits)} }

func (d durations) record(taken int64) {
	// It fails only beyond the bounds.
	_ = d.RecordValue(min(max(taken, 0), longest))
}

func (d durations) add(other durations) {
	if d.Histogram != nil && other.Histogram != nil {
		d.Merge(other.Histogram)
	}
}

// told is the histogram in its compressed encoding; empty where it has nothing.
func (d durations) told() string {
	if d.Histogram == nil || d.TotalCount() == 0 {
		return ""
	}
	// It fails only where memory cannot be written to.
	text, _ := d.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(text)
}

func newCounts(classes, digits int, isDue bool) []counts {
	all := make([]counts, classes)
	for i := range all {
		all[i].response = newDurations(digits)
		if isDue {
			all[i].service, all[i].wait, all[i].late = newDurations(digits), newDurations(digits), newDurations(digits)
		}
	}
	return all
}

func (c *counts) add(other *counts) {
	c.done += other.done
	c.failed += other.failed
	c.retried += other.retried
	c.undone += other.undone
	if c.failure == "" {
		c.failure = other.failure
	}
	c.response.add(other.response)
	c.service.add(other.service)
	c.wait.add(other.wait)
	c.late.add(other.late)
}

// join adds what another process told of the same class.
func (c *counts) join(told protocol.Class) error {
	other := counts{done: told.Done, failed: told.Failed, retried: told.Retried, undone: told.Undone, failure: told.Failure}
	for _, part := range []struct {
		own, others *durations
		text        string
	}{
		{&c.response, &other.response, told.Response}, {&c.service, &other.service, told.Service},
		{&c.wait, &other.wait, told.Wait}, {&c.late, &other.late, told.Late},
	} {
		if part.text == "" {
			continue
		}
		decoded, err := hdrhistogram.Decode([]byte(part.text))
		if err != nil {
			return fmt.Errorf("a client tells durations that nobody understands: %w", err)
		}
		if part.own.Histogram == nil {
			// The first to tell any.
			part.own.Histogram = decoded
		} else {
			part.others.Histogram = decoded
		}
	}
	c.add(&other)
	return nil
}

// clear empties those of a tick.
func (c *counts) clear() {
	c.done, c.failed, c.retried, c.undone = 0, 0, 0, 0
	c.response.Reset()
}

// told is the classes as the contract has them, by their names.
func told(all []counts, names []string) []protocol.Class {
	var list []protocol.Class
	for i := range all {
		c := &all[i]
		list = append(list, protocol.Class{
			Class: names[i], Done: c.done, Failed: c.failed, Failure: c.failure, Retried: c.retried, Undone: c.undone,
			Response: c.response.told(), Service: c.service.told(), Wait: c.wait.told(), Late: c.late.told(),
		})
	}
	return list
}

// board is what the clients of a section share: the classes by tick, into which each adds a tick when it is
// over.
type board struct {
	window window
	lock   sync.Mutex
	ticks  [][]counts
}

// newBoard is an empty one. Where all steps are done once there are no ticks.
func newBoard(window window, classes int) *board {
	board := &board{window: window}
	if window.until != unlimited {
		for from := window.from; from < window.until; from += tickNS {
			board.ticks = append(board.ticks, newCounts(classes, tickDigits, false))
		}
	}
	return board
}

// told is the ticks as the contract has them.
func (b *board) told(names []string) []protocol.Tick {
	var list []protocol.Tick
	for place, tick := range b.ticks {
		ended := min(int64(place+1)*tickNS, b.window.until-b.window.from)
		list = append(list, protocol.Tick{EndedNS: ended, Classes: told(tick, names)})
	}
	return list
}

// recorder is what one client records. All memory is reserved before the clock starts.
type recorder struct {
	board *board
	all   []counts
	// tick is the current tick, place its place, and ends when it ends, in nanoseconds since the clients began.
	tick  []counts
	place int64
	ends  int64
}

// newRecorder is one for so many classes, due at times or not.
func newRecorder(board *board, classes int, isDue bool) *recorder {
	ends := int64(unlimited)
	if board.window.until != unlimited {
		ends = board.window.from + tickNS
	}
	return &recorder{board: board, all: newCounts(classes, 3, isDue), tick: newCounts(classes, tickDigits, false), ends: ends}
}

// done counts an operation that succeeded, or was undone as planned, after so many tries that did not.
func (r *recorder) done(class int, times times, retried int64, undone bool) {
	if !r.isWithin(times.done) {
		return
	}
	from := times.sent
	if times.due > 0 {
		from = times.due
	}
	all, tick := &r.all[class], &r.tick[class]
	for _, counts := range [...]*counts{all, tick} {
		counts.done++
		counts.retried += retried
		if undone {
			counts.undone++
		}
		counts.response.record(times.done - from)
	}
	if times.due > 0 && all.service.Histogram != nil {
		all.service.record(times.done - times.sent)
		// Whoever was free only after it was due kept it waiting until then.
		all.wait.record(times.free - times.due)
		all.late.record(times.sent - max(times.free, times.due))
	}
}

// failed counts an operation that did not succeed, and why, unless that was for want of time.
func (r *recorder) failed(class int, ended, retried int64, why string) {
	if !r.isWithin(ended) {
		return
	}
	if all := &r.all[class]; all.failure == "" {
		all.failure = why
	}
	for _, counts := range [...]*counts{&r.all[class], &r.tick[class]} {
		counts.failed++
		counts.retried += retried
	}
}

// isWithin says whether what ends now counts. It goes on to its tick.
func (r *recorder) isWithin(now int64) bool {
	if now >= r.ends {
		r.turn(now)
	}
	return now >= r.board.window.from && now < r.board.window.until
}

// turn ends ticks until one holds this moment.
func (r *recorder) turn(now int64) {
	if r.place < int64(len(r.board.ticks)) {
		r.board.lock.Lock()
		for i := range r.tick {
			r.board.ticks[r.place][i].add(&r.tick[i])
		}
		r.board.lock.Unlock()
	}
	for i := range r.tick {
		r.tick[i].clear()
	}
	further := 1 + (now-r.ends)/tickNS
	r.place += further
	r.ends += further * tickNS
}

// end adds the last tick, and returns what the client did in all.
func (r *recorder) end() []counts {
	if r.ends != unlimited {
		r.turn(r.ends)
	}
	return r.all
}
