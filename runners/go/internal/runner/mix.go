package runner

import (
	"errors"
	"fmt"
	"sync/atomic"

	"dyno/runners/go/internal/protocol"
)

// mixWork is the model mix: many clients, made ready, let go at once, and brought together again.
type mixWork struct {
	mix    *protocol.Mix
	driver Sessions
	steps  []steps
	// visits are the sessions of clients that come and go; nil where clients stay.
	visits *visits
	// names are those of the classes that are reported.
	names  []string
	board  *board
	window window
	// next is the next step that no client has taken, where clients have a part in one file.
	next *atomic.Int64
	stop atomic.Bool
	// before is how many clients there are in the processes before this one.
	before int
	// orders say when the clients begin and when they may leave, where other processes have the rest of them; else nil.
	orders *orders
	firsts []int
	// programs has for each class the order of its statements.
	programs []program
	// operation sends the progress of an operation; nil where nothing is reported.
	operation func(protocol.Operation) error
	// report reports an interval; nil where none are reported.
	report func(protocol.Interval) error
}

func (w *mixWork) perform(t *trial) (sample protocol.Sample, err error) {
	if err := w.load(); err != nil {
		return sample, err
	}
	if part := w.mix.Part; part != nil {
		w.before, w.orders = part.Before, &orders{t.input, t.events}
	}
	if w.mix.Reports != nil {
		w.operation = func(operation protocol.Operation) error { return t.events.send("operation", operation) }
	}
	if w.mix.IntervalNS > 0 && w.mix.Lasts != nil {
		w.report = func(interval protocol.Interval) error { return t.events.send("interval", interval) }
		w.board.news = newCounts(len(w.names), tickDigits, false)
	}
	sample, all, err := w.part(t)
	if err != nil {
		return sample, err
	}
	// To connect is no operation of the suite.
	for class := range w.mix.Classes {
		sample.Operations += int(all[class].done)
	}
	// Of several processes dyno looks at the sum.
	if sample.Operations == 0 && w.mix.Part == nil {
		why := ""
		for class := range all {
			if why == "" && all[class].failure != "" {
				why = ": " + all[class].failure
			}
		}
		return sample, errors.New("no operation succeeded within the time" + why)
	}
	sample.Classes, sample.Ticks = classesOf(all, w.names), w.board.list(w.names)
	nameStatements(w.mix, sample.Classes)
	return sample, nil
}

// part is what the clients of this process do.
func (w *mixWork) part(t *trial) (sample protocol.Sample, all []counts, err error) {
	work := w.stay
	if w.visits != nil {
		work = func(t *trial) (protocol.Sample, []counts, error) {
			return w.together(t, make([]Session, w.mix.Clients))
		}
	}
	driver, ok := w.driver.(Aside)
	if !ok || w.visits == nil {
		return work(t)
	}
	// Only the sessions that come and go are connected.
	if after := driver.StepAside(func() { sample, all, err = work(t) }); err == nil {
		err = after
	}
	return sample, all, err
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
	// Clients have a part in one file.
	if len(w.mix.Steps) < clients || w.mix.Session != nil {
		w.next = &atomic.Int64{}
	}
	w.window = window{0, unlimited}
	if lasts := w.mix.Lasts; lasts != nil {
		w.window = window{lasts.WarmUpNS, lasts.WarmUpNS + lasts.DurationNS}
	}
	for i := range w.mix.Classes {
		class := &w.mix.Classes[i]
		program, err := newProgram(w.mix, class)
		if err != nil {
			return err
		}
		w.programs, w.names = append(w.programs, program), append(w.names, class.Name)
	}
	w.firsts = firstsOf(w.mix)
	if w.mix.Session != nil {
		w.names = append(w.names, protocol.Connect)
		w.visits, err = newVisits(w.mix, w.driver, &w.steps[0])
	}
	w.board = newBoard(w.window, len(w.names))
	return err
}

// firstsOf is the position of each class's first statement among those of all classes.
func firstsOf(mix *protocol.Mix) (firsts []int) {
	statements := 0
	for i := range mix.Classes {
		firsts = append(firsts, statements)
		statements += len(mix.Classes[i].Statements)
	}
	return firsts
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
