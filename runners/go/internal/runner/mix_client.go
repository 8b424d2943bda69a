package runner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"dyno/runners/go/internal/protocol"
)

// unlimited is the end of a window without one: all steps are done once.
const unlimited = math.MaxInt64

// window is when operations count: those that end within it, in nanoseconds since the clients began.
type window struct{ from, until int64 }

// client is one client at work.
type client struct {
	mix     *protocol.Mix
	session Session
	steps   *steps
	// next is the next step that no client has taken, where others have a part in the steps; else nil.
	next   *atomic.Int64
	window window
	// stop says whether the clients are to end.
	stop *atomic.Bool
	// firsts has for each class the position of its first statement.
	firsts []int
	// programs has for each class the order of its statements, kept what they keep.
	programs []program
	kept     [][]Answer
	// keeps says whether what is stored can be read back.
	keeps bool
	// values is what the parameters of the current statement are.
	values Values
	// answer is where rows go. It counts and keeps none.
	answer *Answer
	// report sends the progress of an operation; nil where nothing is reported.
	report func(protocol.Operation) error
	// timing times each statement; nil where none are timed.
	timing *timing
}

// use lets the client work with a session from now on.
func (c *client) use(session Session) {
	c.session, c.keeps = session, !isHarness(session)
	if c.timing != nil {
		c.timing.Session = session
		c.session = c.timing
	}
}

// work does steps until the time is up, or until all are done. began is when the clients began.
func (c *client) work(began moment, recorder *recorder) error {
	free, own := began.since(), 0
	for ; free < c.window.until && !c.stop.Load(); own++ {
		place := own
		if c.next != nil {
			place = int(c.next.Add(1)) - 1
		}
		// Steps with times are done once; others begin anew where a time is what ends them.
		if place >= c.steps.len() && (c.window.until == unlimited || c.steps.get(0).due() > 0) {
			break
		}
		recorder.anew = place >= c.steps.len()
		step := c.steps.get(place % c.steps.len())
		now := recorder.after(free, began)
		due, sent := step.due(), now
		if moment := max(due, c.thought(step, free)); moment > now {
			if moment >= c.window.until {
				break
			}
			sent = began.wait(moment)
		}
		var err error
		if free, err = c.step(step, times{due: due, free: free, sent: sent}, began, recorder); err != nil {
			return err
		}
	}
	c.leave(own, 1, recorder, Step.class)
	return nil
}

// leave counts, once the time is up, as unfinished all that was due before its end and was never begun: the first of
// every each steps, from own on where no other client takes part in the steps.
func (c *client) leave(own, each int, recorder *recorder, class func(Step) int) {
	if c.window.until == unlimited || c.steps.get(0).due() == 0 {
		return
	}
	for place := own; ; place += each {
		if c.next != nil {
			place = int(c.next.Add(int64(each))) - each
		}
		if place >= c.steps.len() || c.steps.get(place).due() >= c.window.until {
			return
		}
		step := c.steps.get(place)
		recorder.unfinished(class(step), step.due())
	}
}

// step does a step that was due, whose client was free and which is sent at these moments, and records it. It returns
// when it was done.
func (c *client) step(step Step, times times, began moment, recorder *recorder) (int64, error) {
	class := step.class()
	retried, ended, err := c.operation(class, step, times.sent, began)
	if err != nil {
		return 0, fmt.Errorf("class %s: %w", c.mix.Classes[class].Name, err)
	}
	times.done = began.since()
	if c.timing != nil && (ended.how == endedDone || ended.how == endedUndone) {
		recorder.statements(class, times.done, c.timing.executions)
	}
	switch ended.how {
	case endedLate:
		recorder.failed(class, times, retried, "")
	case endedMissing:
		recorder.failed(class, times, retried, c.missing(class, ended.statement))
	case endedIgnored:
		recorder.ignored(class, times, retried)
	default:
		recorder.done(class, times, retried, ended.how == endedUndone)
	}
	return times.done, nil
}

// thought is until when a client that is free thinks before it sends a step; 0: it does not.
func (c *client) thought(step Step, free int64) int64 {
	if c.mix.Think == nil {
		return 0
	}
	think, _ := step.Value(*c.mix.Think).(int64)
	return free + think
}

// outcome is how an operation ended that met no error.
type outcome struct {
	how how
	// statement is the one that returned no row, by its position in the class.
	statement int
}

type how uint8

const (
	endedDone how = iota
	// endedUndone: it was undone, as planned.
	endedUndone
	// endedMissing: a statement returned no row where one must be.
	endedMissing
	// endedIgnored: it ended with an error that the suite ignores.
	endedIgnored
	// endedLate: nothing came of all tries within the time.
	endedLate
)

// operation is one operation, tried again for as long as that may help. It returns how many tries were
// repeated and how it ended.
func (c *client) operation(class int, step Step, sent int64, began moment) (retried int64, ended outcome, err error) {
	for {
		ended, err := c.attempt(class, step)
		if err == nil {
			return retried, ended, nil
		}
		if c.ignores(class, err) {
			return retried, outcome{how: endedIgnored}, nil
		}
		if !c.session.MayPass(err) {
			return retried, ended, err
		}
		if began.since()-sent > c.mix.PatienceOf(class) {
			return retried, outcome{how: endedLate}, nil
		}
		retried++
	}
}

// ignores says whether an operation of a class may end with an error, as the suite plans it.
func (c *client) ignores(class int, err error) bool {
	coded, ok := c.session.(Coded)
	ignores := c.mix.Classes[class].Ignores
	return ok && len(ignores) > 0 && slices.ContainsFunc(coded.Codes(err), func(code string) bool {
		return slices.Contains(ignores, code)
	})
}

// attempt is one try, of which the client says when it begins and when it is done, if it is to.
func (c *client) attempt(class int, step Step) (outcome, error) {
	if c.timing != nil {
		c.timing.start(&c.mix.Classes[class], c.firsts[class])
	}
	if c.report == nil {
		return c.try(class, step)
	}
	number, _ := step.Value(*c.mix.Reports).(int64)
	if err := c.report(protocol.Operation{Number: number}); err != nil {
		return outcome{}, err
	}
	ended, err := c.try(class, step)
	if err == nil && ended.how == endedDone {
		err = c.report(protocol.Operation{Number: number, Done: true})
	}
	return ended, err
}

// try does the statements of an operation.
func (c *client) try(class int, step Step) (outcome, error) {
	purpose := c.mix.Classes[class].Transaction
	if purpose == "" {
		return c.statements(class, step)
	}
	if err := c.session.Begin(purpose); err != nil {
		return outcome{}, err
	}
	ended, err := c.statements(class, step)
	if err == nil {
		if ended.how == endedDone {
			err = c.session.Commit()
		} else {
			err = c.session.Rollback()
		}
	}
	if err != nil {
		return outcome{}, c.undo(err)
	}
	return ended, nil
}

func (c *client) statements(class int, step Step) (outcome, error) {
	missing, err := c.programs[class].execute(c, class, step)
	if err != nil || missing >= 0 {
		return outcome{endedMissing, missing}, err
	}
	if field := c.mix.Classes[class].RollbackIf; field != nil && step.Value(*field) != int64(0) {
		return outcome{how: endedUndone}, nil
	}
	return outcome{}, nil
}

// missing says which statement returned no row.
func (c *client) missing(class, statement int) string {
	text := c.mix.Classes[class].Statements[statement].Text
	return "no row came of " + quote(strings.Join(text, "?"))
}

// undo ends the transaction in which an error happened. What went wrong first is the cause.
func (c *client) undo(err error) error {
	if second := c.session.Rollback(); second != nil {
		return fmt.Errorf("%w (and the rollback failed: %v)", err, second)
	}
	return err
}

// moment is a reading of the monotonic clock.
type moment time.Duration

// momentIn is the moment after some time.
func momentIn(time_ time.Duration) moment { return moment(time.Since(epoch) + time_) }

// since is how many nanoseconds have passed since then; less than 0 where it is yet to come.
func (m moment) since() int64 { return int64(time.Since(epoch) - time.Duration(m)) }

const (
	// coarse is how exact a sleep by the language's own timers is: they wait by epoll, in whole milliseconds.
	coarse = 2 * time.Millisecond
	// early is how much earlier than due a client ends its sleep: about as much later than asked the kernel
	// wakes a thread whose timer slack is 1 ns.
	early = 20 * time.Microsecond
)

// sleep sleeps until this many nanoseconds have passed since then: as the language does it while that is far,
// and then by a separate call, which holds a thread. A call that is interrupted ends early.
func (m moment) sleep(until int64) {
	if left := time.Duration(until - m.since()); left > coarse {
		time.Sleep(left - coarse)
	}
	// If it is refused, sleeps end somewhat later. It is the thread's, which may be another each time.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, 1, 0)
	for {
		left := until - m.since()
		if left <= 0 {
			return
		}
		length := syscall.NsecToTimespec(left)
		if err := syscall.Nanosleep(&length, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			time.Sleep(time.Duration(left))
		}
	}
}

// wait waits until this many nanoseconds have passed since then: asleep while that is far, and then awake. It
// returns how many have passed.
func (m moment) wait(due int64) int64 {
	m.sleep(due - int64(early))
	for {
		if now := m.since(); now >= due {
			return now
		}
	}
}
