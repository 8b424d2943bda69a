package runner

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"dyno/runners/go/internal/protocol"
)

// clock times sections of one trial: two readings of the monotonic clock, with the counters just outside
// them.
type clock struct {
	gauge *gauge
	// giver gives turns; nil where the job has none.
	giver *giver
	// counted says that the counters have been read for clients that were let go.
	counted bool
	// slowdown is the share by which sections are to be slower than they are.
	slowdown float64
}

func newClock(job *protocol.Job, giver *giver) (*clock, error) {
	var server protocol.Server
	if job.Server != nil {
		server = *job.Server
	}
	gauge, err := openGauge(server.Process, server.FurtherProcesses...)
	return &clock{gauge: gauge, giver: giver, slowdown: job.Slowdown}, err
}

// time does work of this many operations (1: it is one piece) and returns what it cost: the sample's section. The
// garbage of what came before is collected first: it is the harness's own, or that of a test that has ended.
func (c *clock) time(of int, work func(turns *Turns) error) (protocol.Sample, error) {
	runtime.GC()
	if c.giver == nil {
		return c.section(func() error { return work(nil) })
	}
	turns := &Turns{clock: c, of: of}
	if err := turns.begin(); err != nil {
		return protocol.Sample{}, err
	}
	err := work(turns)
	turns.stop()
	return protocol.Sample{Section: turns.section}, err
}

// section is time for work that goes on already, or knows no turns: no garbage is collected.
func (c *clock) section(work func() error) (protocol.Sample, error) {
	c.gauge.begin()
	return c.work(work)
}

// count gets the counters ready before clients are let go. Those of clients that do not warm up are read here: once hundreds
// of them are at work, a thread that reads is kept from its next call for a large part of the section.
func (c *clock) count(warmsUp bool) {
	c.gauge.prepare()
	if c.counted = !warmsUp; c.counted {
		c.gauge.begin()
	}
}

// clients is section for clients that are at work, after count.
func (c *clock) clients(work func() error) (protocol.Sample, error) {
	if !c.counted {
		c.gauge.begin()
	}
	return c.work(work)
}

func (c *clock) work(work func() error) (protocol.Sample, error) {
	began := monotonic()

	start := time.Now()
	err := work()
	section := c.end(start)
	section.BeganNS = began
	return protocol.Sample{Section: section}, err
}

// end stops the clock of what began then.
func (c *clock) end(start time.Time) protocol.Section {
	c.spin(start)
	elapsed := time.Since(start)

	section := c.gauge.end()
	section.Nanoseconds = elapsed.Nanoseconds()
	return section
}

// spin makes what began then take longer, by a share of what it took.
func (c *clock) spin(start time.Time) {
	if c.slowdown > 0 {
		for until := time.Duration(float64(time.Since(start)) * (1 + c.slowdown)); time.Since(start) < until; {
		}
	}
}

// monotonic is what the system's monotonic clock stands at, in nanoseconds: the one that other processes see too, which a
// time.Time keeps to itself. It is 0 where the kernel does not report it.
func monotonic() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		return 0
	}
	return now.Nano()
}
