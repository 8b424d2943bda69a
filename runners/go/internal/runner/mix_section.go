package runner

import (
	"fmt"
	"runtime"
	"time"

	"dyno/runners/go/internal/protocol"
)

// notice is how long before they begin the clients receive the order to, so that all of them have it.
const notice = 5 * time.Millisecond

// later is how long after its end an interval is reported: clients hand a second over with their next operation.
const later = 50 * time.Millisecond

// lines are between a client and the section that starts it.
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

// stay lets clients work that are connected all the time.
func (w *mixWork) stay(t *trial) (sample protocol.Sample, all []counts, err error) {
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
			return sample, nil, fmt.Errorf("client %d of %d: %w", w.before+place+1, w.before+clients, err)
		}
		sessions = append(sessions, session)
	}
	return w.together(t, sessions)
}

// together lets all clients go at once, each with its session, or with nil where it comes and goes, and returns what
// they did.
func (w *mixWork) together(t *trial, sessions []Session) (sample protocol.Sample, all []counts, err error) {
	clients := w.mix.Clients
	lines := lines{make(chan error, clients), make(chan moment, clients), make(chan ended, clients)}
	recorders := make([]*recorder, clients)
	isDue := w.steps[0].get(0).due() > 0
	for place, session := range sessions {
		recorders[place] = newRecorder(w.board, len(w.names), isDue)
		if w.mix.TimesStatements {
			recorders[place].timeStatements(w.mix)
		}
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
		return sample, nil, err
	}
	if sample, err = w.letGo(t, lines); err != nil {
		return sample, nil, err
	}
	all = recorders[0].end()
	for _, recorder := range recorders[1:] {
		for class, own := range recorder.end() {
			all[class].add(&own)
		}
	}
	return sample, all, nil
}

// letGo lets all clients begin, and times them. When it returns, no client is at work.
func (w *mixWork) letGo(t *trial, lines lines) (protocol.Sample, error) {
	clients := w.mix.Clients
	// Not by the clock's own collection, which would come after the warm-up.
	runtime.GC()
	t.clock.count(w.window.from > 0)
	began := momentIn(notice)
	if w.orders != nil {
		var err error
		if began, err = w.orders.begin(); err != nil {
			close(lines.begin)
			return protocol.Sample{}, err
		}
	}
	for range clients {
		lines.begin <- began
	}
	began.sleep(w.window.from)
	missing, last := clients, int64(0)
	sample, err := t.clock.clients(func() (err error) {
		missing, last, err = w.wait(began, lines)
		return err
	})
	w.stop.Store(true)
	for range missing {
		if after := <-lines.done; err == nil {
			err = after.err
		}
	}
	if err == nil && w.orders != nil {
		// Before a connection is closed: the costs of a server are read now.
		err = w.orders.end()
	}
	if lasts := w.mix.Lasts; lasts != nil {
		// Operations that ended later do not count.
		sample.Section.Nanoseconds = lasts.DurationNS
	} else {
		// The clients began before the goroutine that reads the clock was awake.
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
	var isDue <-chan time.Time
	var reported int64
	next := func() {
		until := w.window.from + (reported+1)*w.mix.IntervalNS + later.Nanoseconds()
		isDue = time.After(time.Duration(until - began.since()))
	}
	if w.report != nil {
		next()
	}
	for missing = w.mix.Clients; missing > 0; {
		select {
		case one := <-lines.done:
			if missing--; one.err != nil {
				return missing, last, one.err
			}
			last = max(last, one.at)
		case <-isDue:
			reported++
			interval := protocol.Interval{ElapsedNS: reported * w.mix.IntervalNS, Nanoseconds: w.mix.IntervalNS, Classes: w.board.takeNews(w.names)}
			if err := w.report(interval); err != nil {
				return missing, last, err
			}
			next()
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

// beClient is the life of one client: with a session, or with nil where it comes and goes.
func (w *mixWork) beClient(place int, session Session, recorder *recorder, lines lines) {
	named := func(work func() error) error { return Place(fmt.Sprintf("client %d", w.before+place+1), guarded(work)) }
	var err error
	if session != nil {
		err = named(func() error { return session.Prepare(w.mix) })
	}
	lines.ready <- err
	began, goes := <-lines.begin
	if !goes || err != nil {
		return
	}
	client := &client{mix: w.mix, steps: &w.steps[0], window: w.window, stop: &w.stop, firsts: w.firsts,
		programs: w.programs, answer: &Answer{}, report: w.operation}
	for i := range w.mix.Classes {
		client.kept = append(client.kept, make([]Answer, len(w.mix.Classes[i].Statements)))
	}
	client.answer.begin(false)
	if w.mix.TimesStatements {
		client.timing = &timing{}
	}
	if session != nil {
		client.use(session)
	}
	if w.next != nil {
		client.next = w.next
	} else {
		client.steps = &w.steps[place]
	}
	began.sleep(0)
	err = named(func() error {
		if w.visits != nil {
			return client.visit(w.visits, began, recorder)
		}
		return client.work(began, recorder)
	})
	lines.done <- ended{began.since(), err}
}
