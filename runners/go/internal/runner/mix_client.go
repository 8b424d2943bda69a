package runner

import (
	"errors"
	"fmt"
	"math"
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
	// next is the next step that nobody has, where others have a part in the steps; else nil.
	next   *atomic.Int64
	window window
	// stop says whether somebody wants the clients to end.
	stop *atomic.Bool
	// firsts has for each class the position of its first statement.
	firsts []int
	// answer is where rows go. It counts and keeps none.
	answer *Answer
}

// work does steps until the time is up, or until all are done. began is when the clients began.
func (c *client) work(began moment, recorder *recorder) error {
	free := began.since()
	for own := 0; free < c.window.until && !c.stop.Load(); own++ {
		place := own
		if c.next != nil {
			place = int(c.next.Add(1)) - 1
		}
		// Steps with times are done once; others begin anew where a time is what ends them.
		if place >= c.steps.len() && (c.window.until == unlimited || c.steps.get(0).due() > 0) {
			break
		}
		step := c.steps.get(place % c.steps.len())
		due, sent := step.due(), free
		if due > free {
			if due >= c.window.until {
				break
			}
			sent = began.wait(due)
		}
		class := step.class()
		retried, passed, err := c.operation(class, step, sent, began)
		if err != nil {
			return fmt.Errorf("class %s: %w", c.mix.Classes[class].Name, err)
		}
		done := began.since()
		if passed {
			recorder.done(class, times{due, free, sent, done}, retried)
		} else {
			recorder.failed(class, done, retried)
		}
		free = done
	}
	return nil
}

// operation is one operation, tried again for as long as that may help. It returns how many tries were
// repeated and whether the last one succeeded.
func (c *client) operation(class int, step Step, sent int64, began moment) (retried int64, passed bool, err error) {
	for {
		err := c.attempt(&c.mix.Classes[class], c.firsts[class], step)
		if err == nil {
			return retried, true, nil
		}
		if !c.session.MayPass(err) {
			return retried, false, err
		}
		if began.since()-sent > c.mix.PatienceNS {
			return retried, false, nil
		}
		retried++
	}
}

// attempt is one try. first is the position of the class's first statement.
func (c *client) attempt(class *protocol.MixClass, first int, step Step) error {
	if class.Transaction == "" {
		return c.statements(class, first, step)
	}
	if err := c.session.Begin(class.Transaction); err != nil {
		return err
	}
	err := c.statements(class, first, step)
	if err == nil {
		err = c.session.Commit()
	}
	if err != nil {
		return c.undo(err)
	}
	return nil
}

func (c *client) statements(class *protocol.MixClass, first int, step Step) error {
	for place := range class.Statements {
		if err := c.session.Run(first+place, step, c.answer); err != nil {
			return err
		}
	}
	return nil
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

// sleep sleeps until so many nanoseconds have passed since then: as the language does it while that is far,
// and then by a call of its own, which holds a thread. A call that is interrupted ends early.
func (m moment) sleep(until int64) {
	if left := time.Duration(until - m.since()); left > coarse {
		time.Sleep(left - coarse)
	}
	// Where it is refused, sleeps end somewhat later. It is the thread's, which may be another each time.
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

// wait waits until so many nanoseconds have passed since then: asleep while that is far, and then awake. It
// returns how many have passed.
func (m moment) wait(due int64) int64 {
	m.sleep(due - int64(early))
	for {
		if now := m.since(); now >= due {
			return now
		}
	}
}
