package runner

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/runners/go/internal/protocol"
)

// longest is the longest duration that is distinguished from longer ones: one hour, in nanoseconds.
const longest = 3_600_000_000_000

// epoch is a reading of the clock from which others are measured: the monotonic clock alone, which costs half
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

// classes is what was timed, as the one class of a model; none where nothing was.
func (l *Latency) classes(model string) []protocol.Class {
	if l == nil {
		return nil
	}
	// It fails only where memory cannot be written to.
	text, _ := l.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return []protocol.Class{{Class: model, Done: l.histogram.TotalCount(), Response: string(text)}}
}
