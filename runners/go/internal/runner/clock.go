package runner

import (
	"runtime"
	"time"

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

	start := time.Now()
	err := work()
	elapsed := time.Since(start)

	section := c.gauge.end()
	section.Nanoseconds = elapsed.Nanoseconds()
	return protocol.Sample{Section: section}, err
}
