package runner

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest duration that is told apart from longer ones: one hour, in nanoseconds.
const longest = 3_600_000_000_000

// epoch is a reading of the clock from which others are told: the monotonic clock alone, which costs half
// of what time.Now does.
var epoch = time.Now()

// Latency times single operations into a histogram. A nil one times nothing and costs a comparison.
type Latency struct{ histogram *hdrhistogram.Histogram }

// newLatency is an empty histogram of nanoseconds with three significant digits.
func newLatency() *Latency { return &Latency{hdrhistogram.New(1, longest, 3)} }

// Begin reads the clock before an operation.
func (l *Latency) Begin() time.Duration {
	if l == nil {
		return 0
	}
	return time.Since(epoch)
}

// End reads the clock after an operation.
func (l *Latency) End(begin time.Duration) {
	if l != nil {
		l.record(begin)
	}
}

func (l *Latency) record(begin time.Duration) {
	taken := min(max((time.Since(epoch)-begin).Nanoseconds(), 1), longest)
	// It fails only beyond the bounds.
	_ = l.histogram.RecordValue(taken)
}

// counts is durations in nanoseconds, ascending, each with how many operations took so long.
func (l *Latency) counts() [][2]int64 {
	if l == nil {
		return nil
	}
	var counts [][2]int64
	for _, bar := range l.histogram.Distribution() {
		if bar.Count > 0 {
			counts = append(counts, [2]int64{bar.To, bar.Count})
		}
	}
	return counts
}
