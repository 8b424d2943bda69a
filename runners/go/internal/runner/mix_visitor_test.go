package runner

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

// sessionsOf are the steps of sessions by their classes, a millisecond apart.
func sessionsOf(classes ...[]uint64) (steps []dueClass) {
	for number, session := range classes {
		for place, class := range session {
			due := uint64(0)
			if place == 0 {
				due = uint64(number+1) * 1_000_000
			}
			steps = append(steps, dueClass{due, class})
		}
	}
	return steps
}

// visiting is a mix whose clients come and go.
func visiting(t *testing.T, classes []string, clients, each int, steps []dueClass) *protocol.Mix {
	t.Helper()
	mix := mixOf(t, classes, clients, steps)
	mix.Session = &each
	return mix
}

func TestEachSessionConnectsDoesItsStepsAndLeaves(t *testing.T) {
	steps := sessionsOf([]uint64{0, 1}, []uint64{1, 1}, []uint64{0, 0})
	sample, lines, err := visited(t, visiting(t, []string{"get", "write put"}, 1, 2, steps), 3)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	put := func(place string) { want = append(want, "begin write", "put $1"+place, "commit") }
	want = append(want, "aside", "get $10")
	for _, place := range []string{"1", "2", "3"} {
		put(place)
	}
	want = append(want, "get $14", "get $15", "there again")
	if !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	if got := countsOf(sample.Classes); !reflect.DeepEqual(got, [][3]int64{{3, 0, 0}, {3, 0, 0}, {3, 0, 0}}) || sample.Operations != 6 {
		t.Errorf("%v %d", got, sample.Operations)
	}
	// To connect is due at a time, and so has waits; what comes after it is not.
	get, connect := sample.Classes[0], sample.Classes[2]
	if connect.Class != "connect" || timesOf(t, connect.Wait).TotalCount() != 3 || timesOf(t, connect.Late).TotalCount() != 3 {
		t.Errorf("%+v", connect)
	}
	if get.Service != "" || get.Wait != "" || get.Late != "" {
		t.Errorf("%+v", get)
	}
}

func TestSessionsAreSharedAndNoneIsDoneTwice(t *testing.T) {
	var all [][]uint64
	for range 25 {
		all = append(all, make([]uint64, 4))
	}
	sample, lines, err := visited(t, visiting(t, []string{"get"}, 4, 4, sessionsOf(all...)), 25)
	slices.Sort(lines)
	if err != nil || sample.Operations != 100 || len(slices.Compact(lines)) != 102 {
		t.Errorf("%v %d %d", err, sample.Operations, len(lines))
	}
}

func TestAClientThatIsRefusedOrFailsIsReported(t *testing.T) {
	for word, want := range map[string]string{
		"fail":    "client 1: class fail: no such toy",
		"refused": "client 1: connect: refused $1: cannot prepare it",
	} {
		_, _, err := visited(t, visiting(t, []string{word}, 1, 1, sessionsOf([]uint64{0})), 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}

func TestStepsThatAreNoSessionsAreRefused(t *testing.T) {
	for want, steps := range map[string][]dueClass{
		"there are 3 steps in sessions of 2": {{1, 0}, {0, 0}, {1, 0}},
		"session 1 is due at no time":        {{1, 0}, {0, 0}, {0, 0}, {0, 0}},
	} {
		_, _, err := visited(t, visiting(t, []string{"get"}, 1, 2, steps), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}
