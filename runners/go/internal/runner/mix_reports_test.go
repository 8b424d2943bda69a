package runner

import (
	"bytes"
	"testing"

	"dyno/runners/go/internal/protocol"
)

func TestAMixReportsWhenEachOperationBeginsAndWhenItIsDone(t *testing.T) {
	mix := mixOf(t, []string{"write put"}, 1, []dueClass{{0, 0}, {0, 0}})
	field := 0
	mix.Reports = &field
	clock, err := newClock(&protocol.Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	work := &mixWork{mix: mix, driver: &mixToy{}}
	defer work.release()
	if _, err := work.perform(&trial{clock: clock, events: newEvents(&said)}); err != nil {
		t.Fatal(err)
	}
	want := `{"event":"operation","number":0,"done":false}
{"event":"operation","number":0,"done":true}
{"event":"operation","number":1,"done":false}
{"event":"operation","number":1,"done":true}
`
	if said.String() != want {
		t.Errorf("%s", said.String())
	}
}
