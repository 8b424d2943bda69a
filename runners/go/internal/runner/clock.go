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
type clock struct{ gauge *gauge }

func newClock(job *protocol.Job) (*clock, error) {
	server := 0
	if job.Server != nil {
		server = job.Server.Process
	}
	gauge, err := openGauge(server)
	return &clock{gauge}, err
}

// time does the work and returns what it cost: the sample's section. The garbage of what came before is collected first: it is the harness's own, or that of a test
// that has ended.
func (c *clock) time(work func() error) (protocol.Sample, error) {
	runtime.GC()
	return c.section(work)
}

// section is time for work that goes on already: no garbage is collected.
func (c *clock) section(work func() error) (protocol.Sample, error) {
	c.gauge.begin()
	began := monotonic()

	start := time.Now()
	err := work()
	elapsed := time.Since(start)

	section := c.gauge.end()
	section.Nanoseconds = elapsed.Nanoseconds()
	section.BeganNS = began
	return protocol.Sample{Section: section}, err
}

// monotonic is what the system's monotonic clock stands at, in nanoseconds: the one that other processes see too, which a
// time.Time keeps to itself. It is 0 where the kernel does not tell.
func monotonic() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		return 0
	}
	return now.Nano()
}
