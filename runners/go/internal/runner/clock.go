package runner

import (
	"runtime"
	"time"

	"dyno/runners/go/internal/protocol"
)

// clock times sections of one trial: two readings of the monotonic clock, with the counters just outside
// them.
type clock struct {
	counters *counters
	server   *serverProcess
}

func newClock(job *protocol.Job) *clock {
	clock := &clock{counters: openCounters()}
	if job.Server != nil && job.Server.Process != 0 {
		clock.server = &serverProcess{main: job.Server.Process}
	}
	return clock
}

// time does the work and returns what it cost: every field of the sample that a clock or the kernel
// tells. The garbage of what came before is collected first: it is the harness's own, or that of a test
// that has ended.
func (c *clock) time(work func() error) (protocol.Sample, error) {
	runtime.GC()
	serverBefore := c.server.before()
	before := c.counters.before()

	start := time.Now()
	err := work()
	elapsed := time.Since(start)

	after := c.counters.after()
	sample := protocol.Sample{
		Nanoseconds:        elapsed.Nanoseconds(),
		UserNS:             since(after.userNS, before.userNS),
		SystemNS:           since(after.systemNS, before.systemNS),
		WaitNS:             since(after.waitNS, before.waitNS),
		DeviceReadBytes:    since(after.readBytes, before.readBytes),
		DeviceWrittenBytes: since(after.writtenBytes, before.writtenBytes),
		PeakMemoryBytes:    c.counters.peakBytes(),
		Server:             c.server.since(serverBefore),
	}
	return sample, err
}

// since is a counter's difference, and never less than nothing: a thread that ends takes its figure
// with it.
func since(after, before int64) int64 { return max(after-before, 0) }
