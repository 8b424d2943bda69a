package runner

import (
	"math/big"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/runners/go/internal/protocol"
)

const (
	// tickNS is how long a tick is, in nanoseconds.
	tickNS = 1_000_000_000
	// tickDigits are the significant digits of a tick's histogram: two show a stall, and take an eighth of the
	// memory of three.
	tickDigits = 2
	// unpacked is how many ticks before the current one have room for what clients add that are late.
	unpacked = 2
)

// times is when an operation was due (0: as soon as its client was free), when its client was free for it,
// and when it was sent and done, in nanoseconds since the clients began.
type times struct{ due, free, sent, done int64 }

// from is when its response began: when it was due, or else sent.
func (t times) from() int64 {
	if t.due > 0 {
		return t.due
	}
	return t.sent
}

// counts is the operations of one class of one client.
type counts struct {
	done, failed, retried, undone, ignored, acknowledged int64
	// failure is why the first of those failed, where it was not for want of time.
	failure  string
	response durations
	// packed is response in its compressed encoding, where that is empty itself: of seconds that are over.
	packed string
	// unfinished is how long those that were not done at the end had waited. It is made after the end, because few clients
	// have one.
	unfinished durations
	// Further durations of operations that are due at a time; nil where they are not.
	service, wait, late durations
	// statements has the executions of each statement, where they are timed.
	statements []durations
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

// encoded is the histogram in its compressed encoding; empty where it has nothing.
func (d durations) encoded() string {
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
	c.ignored += other.ignored
	c.acknowledged += other.acknowledged
	if c.failure == "" {
		c.failure = other.failure
	}
	c.response.add(other.response)
	if c.unfinished.Histogram == nil {
		c.unfinished = other.unfinished
	} else {
		c.unfinished.add(other.unfinished)
	}
	c.service.add(other.service)
	c.wait.add(other.wait)
	c.late.add(other.late)
	for place := range other.statements {
		if place >= len(c.statements) {
			c.statements = append(c.statements, other.statements[place])
		} else {
			c.statements[place].add(other.statements[place])
		}
	}
}

// clear empties those of a tick.
func (c *counts) clear() {
	c.done, c.failed, c.retried, c.undone, c.ignored = 0, 0, 0, 0, 0
	c.response.Reset()
}

// classesOf are the classes as the contract has them, by their names.
func classesOf(all []counts, names []string) []protocol.Class {
	var list []protocol.Class
	for i := range all {
		c := &all[i]
		response := c.packed
		if response == "" {
			response = c.response.encoded()
		}
		var statements []protocol.StatementTimes
		for _, one := range c.statements {
			statements = append(statements, protocol.StatementTimes{Response: one.encoded()})
		}
		list = append(list, protocol.Class{
			Class: names[i], Done: c.done, Failed: c.failed, Failure: c.failure, Retried: c.retried, Undone: c.undone, Ignored: c.ignored, Acknowledged: c.acknowledged,
			Response: response, Unfinished: c.unfinished.encoded(), Service: c.service.encoded(), Wait: c.wait.encoded(), Late: c.late.encoded(),
			Statements: statements,
		})
	}
	return list
}

// pack keeps how long operations took in a thousandth of the memory, unless that is empty.
func (c *counts) pack() {
	if c.response.Histogram != nil {
		c.packed, c.response.Histogram = c.response.encoded(), nil
	}
}

// unpack makes room for more operations of a second.
func (c *counts) unpack() error {
	if c.response.Histogram != nil {
		return nil
	}
	if c.packed == "" {
		c.response = newDurations(tickDigits)
		return nil
	}
	decoded, err := hdrhistogram.Decode([]byte(c.packed))
	c.response.Histogram, c.packed = decoded, ""
	return err
}

// hundredths are those of a second, as bits: the first 64 and the others.
type hundredths [2]uint64

// set marks a hundredth.
func (h *hundredths) set(place int64) { h[place/64] |= 1 << (place % 64) }

// add marks those that another one has.
func (h *hundredths) add(other hundredths) { h[0], h[1] = h[0]|other[0], h[1]|other[1] }

// encoded is the hundredths as the contract has them.
func (h hundredths) encoded() string {
	number := new(big.Int).SetUint64(h[1])
	number.Lsh(number, 64).Or(number, new(big.Int).SetUint64(h[0]))
	if number.Sign() == 0 {
		return ""
	}
	return number.Text(16)
}

// second is a tick of all clients.
type second struct {
	classes   []counts
	succeeded hundredths
}

// add adds what one client did in it.
func (s *second) add(tick []counts, succeeded hundredths) error {
	for i := range tick {
		if own := &tick[i]; own.done+own.failed > 0 {
			if err := s.classes[i].unpack(); err != nil {
				return err
			}
			s.classes[i].add(own)
		}
	}
	s.succeeded.add(succeeded)
	return nil
}

// pack keeps it in little memory.
func (s *second) pack() {
	for i := range s.classes {
		s.classes[i].pack()
	}
}

// board is what the clients of a section share: the classes by tick, into which each adds a tick when it is
// over.
type board struct {
	window window
	lock   sync.Mutex
	// packed is how many ticks are, from the first on.
	packed int64
	ticks  []second
	// news is what was added since it was last taken; nil where intervals are not reported.
	news []counts
}

// takeNews is what was added since this was last called, with the names of the classes.
func (b *board) takeNews(names []string) []protocol.Class {
	empty := newCounts(len(names), tickDigits, false)
	b.lock.Lock()
	empty, b.news = b.news, empty
	b.lock.Unlock()
	return classesOf(empty, names)
}

// newBoard is an empty one. Where all steps are done once there are no ticks.
func newBoard(window window, classes int) *board {
	board := &board{window: window}
	if window.until != unlimited {
		for from := window.from; from < window.until; from += tickNS {
			board.ticks = append(board.ticks, second{classes: make([]counts, classes)})
		}
	}
	return board
}

// add adds what one client did in a tick. Only the last ones are not packed.
func (b *board) add(place int64, tick []counts, succeeded hundredths) {
	b.lock.Lock()
	defer b.lock.Unlock()
	// This program can decode its own encoding.
	_ = b.ticks[place].add(tick, succeeded)
	for i := range b.news {
		b.news[i].add(&tick[i])
	}
	if place < b.packed {
		b.ticks[place].pack()
	}
	for ; b.packed < place-unpacked; b.packed++ {
		b.ticks[b.packed].pack()
	}
}

// list is the ticks as the contract has them.
func (b *board) list(names []string) []protocol.Tick {
	var list []protocol.Tick
	for place, tick := range b.ticks {
		ended := min(int64(place+1)*tickNS, b.window.until-b.window.from)
		list = append(list, protocol.Tick{EndedNS: ended, Classes: classesOf(tick.classes, names), Succeeded: tick.succeeded.encoded()})
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
	// anew says that the client does steps for the second time.
	anew bool
	// turned says that a tick ended since the client was last free.
	turned bool
	// succeeded are the hundredths of the current tick in which an operation succeeded.
	succeeded hundredths
}

// newRecorder is one for this many classes, due at times or not.
func newRecorder(board *board, classes int, isDue bool) *recorder {
	ends := int64(unlimited)
	if board.window.until != unlimited {
		ends = board.window.from + tickNS
	}
	return &recorder{board: board, all: newCounts(classes, 3, isDue), tick: newCounts(classes, tickDigits, false), ends: ends}
}

// timeStatements makes room for the executions of the statements of each class.
func (r *recorder) timeStatements(mix *protocol.Mix) {
	if mix.Store != nil {
		return
	}
	for i := range mix.Classes {
		for range timedTexts(&mix.Classes[i]) {
			r.all[i].statements = append(r.all[i].statements, newDurations(3))
		}
	}
}

// statements counts the executions of the statements of an operation that was done at a moment.
func (r *recorder) statements(class int, done int64, executions []execution) {
	statements := r.all[class].statements
	if len(statements) == 0 || done < r.board.window.from || done >= r.board.window.until {
		return
	}
	for _, one := range executions {
		statements[one.place].record(one.took)
	}
}

// done counts an operation that succeeded, or was rolled back as planned, after this many tries that did not.
func (r *recorder) done(class int, times times, retried int64, undone bool) {
	if !undone && !r.anew {
		r.all[class].acknowledged++
	}
	if !r.isWithin(times.done) {
		r.afterTheEnd(class, times)
		return
	}
	from := times.from()
	all, tick := &r.all[class], &r.tick[class]
	for _, counts := range [...]*counts{all, tick} {
		counts.done++
		counts.retried += retried
		if undone {
			counts.undone++
		}
		counts.response.record(times.done - from)
	}
	if r.ends != unlimited {
		r.succeeded.set((times.done + tickNS - r.ends) / (tickNS / 100))
	}
	if times.due > 0 && all.service.Histogram != nil {
		all.service.record(times.done - times.sent)
		// A client that was free only after it was due kept it waiting until then.
		all.wait.record(times.free - times.due)
		all.late.record(times.sent - max(times.free, times.due))
	}
}

// ignored counts an operation that ended with an error that the suite ignores: it is done, and has changed nothing.
func (r *recorder) ignored(class int, times times, retried int64) {
	r.done(class, times, retried, true)
	if times.done >= r.board.window.from && times.done < r.board.window.until {
		r.all[class].ignored++
	}
}

// failed counts an operation that did not succeed, and why, unless that was for want of time.
func (r *recorder) failed(class int, times times, retried int64, why string) {
	if !r.isWithin(times.done) {
		r.afterTheEnd(class, times)
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

// afterTheEnd counts an operation that ended outside the window, if it had to end within it.
func (r *recorder) afterTheEnd(class int, times times) {
	if times.done >= r.board.window.until {
		r.unfinished(class, times.from())
	}
}

// unfinished counts an operation that was due or under way since a moment, and was not done at the end of the window.
func (r *recorder) unfinished(class int, since int64) {
	if since < r.board.window.until {
		all := &r.all[class]
		if all.unfinished.Histogram == nil {
			all.unfinished = newDurations(3)
		}
		all.unfinished.record(r.board.window.until - since)
	}
}

// isWithin says whether what ends now counts. It goes on to its tick.
func (r *recorder) isWithin(now int64) bool {
	if now >= r.ends {
		r.turn(now)
	}
	return now >= r.board.window.from && now < r.board.window.until
}

// after is when a client can go on that was free at a moment: counting a tick takes time that is part of no operation.
func (r *recorder) after(free int64, began moment) int64 {
	if !r.turned {
		return free
	}
	r.turned = false
	return began.since()
}

// turn ends ticks until one holds this moment.
func (r *recorder) turn(now int64) {
	r.turned = true
	if r.place < int64(len(r.board.ticks)) {
		r.board.add(r.place, r.tick, r.succeeded)
	}
	r.succeeded = hundredths{}
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
