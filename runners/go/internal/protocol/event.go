package protocol

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// Hello says who answers and what is in force. The settings are read back from the engine.
type Hello struct {
	Protocol      int                 `json:"protocol"`
	Runner        string              `json:"runner"`
	EngineVersion string              `json:"engine_version"`
	DriverVersion string              `json:"driver_version"`
	Build         map[string][]string `json:"build"`
	Settings      []Setting           `json:"settings"`
	ReadBack      []Readback          `json:"read_back,omitempty"`
}

// Readback is what the engine answered to a query of the job.
type Readback struct {
	Name string    `json:"name"`
	Rows [][]Value `json:"rows,omitempty"`
	// Refused is the engine's error, where it refused the query.
	Refused *Refusal `json:"refused,omitempty"`
}

// Refusal is an error that the engine reported.
type Refusal struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// Operation says how far an operation of a mix is: about to begin, or done with success.
type Operation struct {
	Number int64 `json:"number"`
	Done   bool  `json:"done"`
}

// Sample is one measurement of one test.
type Sample struct {
	Test          string  `json:"test"`
	Section       Section `json:"section"`
	Operations    int     `json:"operations"`
	Rows          int     `json:"rows"`
	Bytes         int     `json:"bytes"`
	DatabaseBytes int64   `json:"database_bytes"`
	// Classes has the operations by class, where each was timed separately.
	Classes []Class `json:"classes,omitempty"`
	// Ticks has the same second by second, where the test lasts a time and not a number of operations.
	Ticks []Tick `json:"ticks,omitempty"`
}

// Section is what happened between two readings of the clock.
type Section struct {
	Nanoseconds int64 `json:"nanoseconds"`
	// BeganNS is what CLOCK_MONOTONIC stood at when it began; 0 where that is not known.
	BeganNS int64 `json:"began_ns,omitempty"`
	Client  Cost  `json:"client"`
	Server  *Cost `json:"server,omitempty"`
}

// ClientsReady is a reading of the runner's own monotonic clock, when the clients of a process are ready.
type ClientsReady struct {
	ClockNS int64 `json:"clock_ns"`
}

// Cost is what processes spent: differences of counters that are read just outside the clock.
type Cost struct {
	UserNS             int64 `json:"user_ns"`
	SystemNS           int64 `json:"system_ns"`
	WaitNS             int64 `json:"wait_ns"`
	DeviceReadBytes    int64 `json:"device_read_bytes"`
	DeviceWrittenBytes int64 `json:"device_written_bytes"`
	PeakMemoryBytes    int64 `json:"peak_memory_bytes"`
}

// Add adds what another slice of the section came to.
func (s *Section) Add(slice Section) {
	s.Nanoseconds += slice.Nanoseconds
	s.Client.Add(slice.Client)
	if slice.Server != nil {
		if s.Server == nil {
			s.Server = &Cost{}
		}
		s.Server.Add(*slice.Server)
	}
}

// Add adds what was spent later, or by another process. Of memory the most counts.
func (c *Cost) Add(slice Cost) {
	c.UserNS += slice.UserNS
	c.SystemNS += slice.SystemNS
	c.WaitNS += slice.WaitNS
	c.DeviceReadBytes += slice.DeviceReadBytes
	c.DeviceWrittenBytes += slice.DeviceWrittenBytes
	c.PeakMemoryBytes = max(c.PeakMemoryBytes, slice.PeakMemoryBytes)
}

// Waiting says how far a test is that waits for a turn.
type Waiting struct {
	// Done is how many of its operations are done, Of how many it has.
	Done int `json:"done"`
	Of   int `json:"of"`
	// Nanoseconds is what they took.
	Nanoseconds int64 `json:"nanoseconds"`
}

// Interval is what clients of a mix did lately: the operations that they have handed over since the interval before.
type Interval struct {
	// ElapsedNS is how long the mix has been measured, Nanoseconds how long the interval is.
	ElapsedNS   int64   `json:"elapsed_ns"`
	Nanoseconds int64   `json:"nanoseconds"`
	Classes     []Class `json:"classes"`
}

// Class is what became of the operations of one class. Durations are HdrHistograms in their compressed
// encoding, empty where there are none.
type Class struct {
	Class string `json:"class"`
	// Done is how many succeeded, at the first try or a later one.
	Done int64 `json:"done"`
	// Failed is how many never succeeded.
	Failed int64 `json:"failed,omitempty"`
	// Failure is why the first of them failed, where it was not for want of time.
	Failure string `json:"failure,omitempty"`
	// Retried is how many tries were repeated.
	Retried int64 `json:"retried,omitempty"`
	// Undone is how many of those done were undone at their end, as the suite plans it.
	Undone int64 `json:"undone,omitempty"`
	// Ignored is how many of these ended with an error that the suite ignores.
	Ignored int64 `json:"ignored,omitempty"`
	// Response has how long they took: each from when it was due, or else sent, to its final success.
	Response string `json:"response"`
	// Acknowledged counts the operations that succeeded and were not undone, those of the warm-up and those that ended after
	// the section among them, as far as their clients did not begin anew with their steps.
	Acknowledged int64 `json:"acknowledged,omitempty"`
	// Unfinished has how long those had waited that were due or under way at the end of the section and not done.
	Unfinished string `json:"unfinished,omitempty"`
	// Service has, of operations that were due at a time, the same from when they were sent.
	Service string `json:"service,omitempty"`
	// Wait has how long these waited because no client was free.
	Wait string `json:"wait,omitempty"`
	// Late has how much later than due they were sent though a client was free.
	Late string `json:"late,omitempty"`
	// Statements has the executions of its statements, where the mix asks for their times.
	Statements []StatementTimes `json:"statements,omitempty"`
}

// StatementTimes has how long the executions of a statement took, in operations that were done.
type StatementTimes struct {
	// Text is that of the statement, with "?" for each parameter; "BEGIN" and "COMMIT" are the beginning of a transaction
	// and its end.
	Text     string `json:"text"`
	Response string `json:"response"`
}

// Tick is a part of a section.
type Tick struct {
	// EndedNS is when it ended, in nanoseconds since the section began.
	EndedNS int64 `json:"ended_ns"`
	// Classes has the operations that ended within it.
	Classes []Class `json:"classes"`
	// Succeeded has the hundredths of a second, from its beginning, in which an operation succeeded: a hexadecimal number
	// whose bit n stands for the time from n to n + 1 hundredths.
	Succeeded string `json:"succeeded,omitempty"`
}

// Failed says what went wrong: what happened, where, what to do; never a secret.
type Failed struct {
	Test    string `json:"test,omitempty"`
	Message string `json:"message"`
	// Code is the engine's, where it refused a statement that the job lists; Statement is its name.
	Code      string `json:"code,omitempty"`
	Statement string `json:"statement,omitempty"`
}

// Value is one value of an answer: nil, int64, Real, string or Blob.
type Value any

// Real is a number that is not whole by its type. Infinities and NaN become text: JSON has none.
type Real float64

// MarshalJSON keeps a point or an exponent, so that 1.0 stays a real number.
func (r Real) MarshalJSON() ([]byte, error) {
	number := float64(r)
	switch {
	case math.IsNaN(number):
		return []byte(`"NaN"`), nil
	case math.IsInf(number, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(number, -1):
		return []byte(`"-inf"`), nil
	}
	text := strconv.AppendFloat(nil, number, 'g', -1, 64)
	if !bytes.ContainsAny(text, ".e") {
		text = append(text, ".0"...)
	}
	return text, nil
}

// Blob is bytes.
type Blob []byte

// MarshalJSON writes an object with the bytes in hexadecimal.
func (b Blob) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"blob": hex.EncodeToString(b)})
}

// Text is a text where the bytes are UTF-8, else a Blob.
func Text(text []byte) Value {
	if utf8.Valid(text) {
		return string(text)
	}
	return Blob(bytes.Clone(text))
}
