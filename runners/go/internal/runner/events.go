package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"dyno/runners/go/internal/protocol"
)

const (
	// answerRows is the most rows that one answer event holds.
	answerRows = 1000
	// answerBytes ends an answer event after the row with which its texts and blobs reach this, so that a
	// reader's memory depends on its largest row and not on how many there are.
	answerBytes = 1 << 18
)

// events sends events: one JSON object a line, each one write.
type events struct {
	lock sync.Mutex
	out  io.Writer
	// ended is set by the failed event: nothing may follow it.
	ended bool
	line  bytes.Buffer
}

func newEvents(out io.Writer) *events { return &events{out: out} }

// send sends an event: the name, then the fields of the body, a struct.
func (e *events) send(name string, body any) error {
	fields, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("cannot write the event %s: %w", name, err)
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.ended {
		return nil
	}
	e.ended = name == "failed"
	e.line.Reset()
	fmt.Fprintf(&e.line, `{"event":%q`, name)
	if len(fields) > len("{}") {
		e.line.WriteByte(',')
		e.line.Write(fields[1 : len(fields)-1])
	}
	e.line.WriteString("}\n")
	if _, err := e.out.Write(e.line.Bytes()); err != nil {
		return fmt.Errorf("cannot write to standard output: %w", err)
	}
	return nil
}

// sendAnswer sends the rows of an answer in as many events as they need; none where there is no row.
func (e *events) sendAnswer(test string, answer *Answer) error {
	type event struct {
		Test string             `json:"test"`
		Rows [][]protocol.Value `json:"rows"`
	}
	rows := answer.kept()
	for row := rows(); row != nil; {
		next := event{Test: test}
		for size := 0; row != nil && len(next.Rows) < answerRows && size < answerBytes; row = rows() {
			next.Rows = append(next.Rows, row)
			size += weight(row)
		}
		if err := e.send("answer", next); err != nil {
			return err
		}
	}
	return nil
}

// weight is what a row weighs in an event, roughly.
func weight(row []protocol.Value) int {
	sum := 0
	for _, value := range row {
		switch value := value.(type) {
		case string:
			sum += len(value)
		case protocol.Blob:
			sum += 2 * len(value)
		default:
			sum += 8
		}
	}
	return sum
}

// fail reports a failure, to dyno and to people.
func (t *trial) fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	failed := protocol.Failed{Test: t.current, Message: err.Error()}
	var refused *refused
	if errors.As(err, &refused) {
		failed.Code, failed.Statement = refused.code, refused.name
	}
	// Nothing more can be done where this cannot be written either.
	_ = t.events.send("failed", failed)
}
