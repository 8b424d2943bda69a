package runner

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"dyno/runners/go/internal/protocol"
)

// notice is how long before they begin the clients are told to, so that all of them have heard it.
const notice = 5 * time.Millisecond

// mixWork is the model mix: many clients, made ready, let go at once, and brought together again.
type mixWork struct {
	mix    *protocol.Mix
	driver Sessions
	steps  []steps
	board  *board
	window window
	next   atomic.Int64
	stop   atomic.Bool
	firsts []int
	// programs has for each class the order of its statements.
	programs []program
	// tell says how far an operation is; nil where nothing is said.
	tell func(protocol.Operation) error
}

// lines are between a client and whoever lets it go.
type lines struct {
	// ready gets nil when the client is ready, or why it is not.
	ready chan error
	// begin says when it is to begin. Where it is closed the client ends.
	begin chan moment
	// done gets what became of the client's work.
	done chan ended
}

// ended is the end of a client's work: when that was, in nanoseconds since the clients began, and what failed.
type ended struct {
	at  int64
	err error
}

func (w *mixWork) perform(t *trial) (sample protocol.Sample, err error) {
	if err := w.load(); err != nil {
		return sample, err
	}
	if w.mix.Tells != nil {
		w.tell = func(operation protocol.Operation) error { return t.events.send("operation", operation) }
	}
	clients := w.mix.Clients
	sessions := make([]Session, 0, clients)
	defer func() {
		for _, session := range sessions {
			if after := session.Close(); err == nil {
				err = after
			}
		}
	}()
	for place := range clients {
		session, err := w.driver.Session(place)
		if err != nil {
			return sample, fmt.Errorf("client %d of %d: %w", place+1, clients, err)
		}
		sessions = append(sessions, session)
	}
	lines := lines{make(chan error, clients), make(chan moment, clients), make(chan ended, clients)}
	recorders := make([]*recorder, clients)
	isDue := w.steps[0].get(0).due() > 0
	for place, session := range sessions {
		recorders[place] = newRecorder(w.board, len(w.mix.Classes), isDue)
		go w.beClient(place, session, recorders[place], lines)
	}
	for range clients {
		// Those that are not ready yet are waited for, because their sessions are closed after this.
		if after := <-lines.ready; err == nil {
			err = after
		}
	}
	if err != nil {
		close(lines.begin)
		return sample, err
	}
	sample, err = w.letGo(t, lines)
	if err != nil {
		return sample, err
	}
	all := recorders[0].end()
	for _, recorder := range recorders[1:] {
		for class, own := range recorder.end() {
			all[class].add(&own)
		}
	}
	for class := range all {
		sample.Operations += int(all[class].done)
	}
	if sample.Operations == 0 {
		why := ""
		for class := range all {
			if why == "" && all[class].failure != "" {
				why = ": " + all[class].failure
			}
		}
		return sample, errors.New("no operation succeeded within the time" + why)
	}
	sample.Classes, sample.Ticks = told(all, w.mix.Classes), w.board.told(w.mix.Classes)
	return sample, nil
}

// load maps the steps and makes what the clients share.
func (w *mixWork) load() (err error) {
	clients := w.mix.Clients
	if clients < 1 {
		return errors.New("a mix of no clients")
	}
	if w.steps, err = mapSteps(w.mix); err != nil {
		return err
	}
	if len(w.steps) != 1 && len(w.steps) != clients {
		return fmt.Errorf("there are %d files of steps for %d clients", len(w.steps), clients)
	}
	w.window = window{0, unlimited}
	if lasts := w.mix.Lasts; lasts != nil {
		w.window = window{lasts.WarmUpNS, lasts.WarmUpNS + lasts.DurationNS}
	}
	w.board = newBoard(w.window, len(w.mix.Classes))
	statements := 0
	for i := range w.mix.Classes {
		class := &w.mix.Classes[i]
		program, err := newProgram(w.mix, class)
		if err != nil {
			return err
		}
		w.programs = append(w.programs, program)
		w.firsts = append(w.firsts, statements)
		statements += len(class.Statements)
	}
	return nil
}

// letGo lets all clients begin, and times them. When it returns, no client is at work.
func (w *mixWork) letGo(t *trial, lines lines) (protocol.Sample, error) {
	clients := w.mix.Clients
	// Not by the clock's own collection, which would come after the warm-up.
	runtime.GC()
	began := momentIn(notice)
	for range clients {
		lines.begin <- began
	}
	began.sleep(w.window.from)
	missing, last := clients, int64(0)
	sample, err := t.clock.section(func() (err error) {
		missing, last, err = w.wait(began, lines)
		return err
	})
	w.stop.Store(true)
	for range missing {
		if after := <-lines.done; err == nil {
			err = after.err
		}
	}
	if lasts := w.mix.Lasts; lasts != nil {
		// What ended later does not count.
		sample.Section.Nanoseconds = lasts.DurationNS
	} else {
		// The clients began before whoever looks at the clock was awake.
		sample.Section.Nanoseconds = last
	}
	return sample, err
}

// wait waits until the time is up, or all clients are done, or one has failed. It returns how many are still
// at work, and when the last of the others ended.
func (w *mixWork) wait(began moment, lines lines) (missing int, last int64, err error) {
	var isOver <-chan time.Time
	if w.window.until != unlimited {
		timer := time.NewTimer(time.Duration(w.window.until - began.since()))
		defer timer.Stop()
		isOver = timer.C
	}
	for missing = w.mix.Clients; missing > 0; missing-- {
		select {
		case one := <-lines.done:
			if one.err != nil {
				return missing - 1, last, one.err
			}
			last = max(last, one.at)
		case <-isOver:
			return missing, last, nil
		}
	}
	// Clients whose steps came to an end before their time leave the rest of it empty.
	if isOver != nil {
		<-isOver
	}
	return missing, last, nil
}

// beClient is the life of one client.
func (w *mixWork) beClient(place int, session Session, recorder *recorder, lines lines) {
	named := func(work func() error) error { return Place(fmt.Sprintf("client %d", place+1), guarded(work)) }
	err := named(func() error { return session.Prepare(w.mix) })
	lines.ready <- err
	began, goes := <-lines.begin
	if !goes || err != nil {
		return
	}
	client := &client{mix: w.mix, session: session, steps: &w.steps[0], window: w.window, stop: &w.stop, firsts: w.firsts,
		programs: w.programs, keeps: !isHarness(session), answer: &Answer{}, tell: w.tell}
	for i := range w.mix.Classes {
		client.kept = append(client.kept, make([]Answer, len(w.mix.Classes[i].Statements)))
	}
	client.answer.begin(false)
	if len(w.steps) < w.mix.Clients {
		client.next = &w.next
	} else {
		client.steps = &w.steps[place]
	}
	began.sleep(0)
	err = named(func() error { return client.work(began, recorder) })
	lines.done <- ended{began.since(), err}
}

func (w *mixWork) readBack(t *trial) error {
	if w.mix.Store == nil {
		return nil
	}
	store, ok := t.driver.(KeyValue)
	if !ok {
		return unsupported("mix on a store")
	}
	return readStore(w.mix, store, t.answer)
}

// release gives the steps back. A failure leaves them, because a driver may still look at them.
func (w *mixWork) release() {
	for _, steps := range w.steps {
		steps.mapped.release()
	}
}
