package runner

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

// inTurns is a job with turns, and the lines that give them.
func inTurns(job string, turns ...string) string {
	return strings.Replace(job, "{", `{"turns":true,`, 1) + "\n" + strings.Join(turns, "\n") + "\n"
}

func TestInTurnsATestIsDoneInSlices(t *testing.T) {
	job := jobOf(t, "go", []string{"a", "b", "change", "c", "d"}, []string{"e"})
	list, code := trialOf(t, inTurns(job, `{"operations":2}`, `{"operations":2}`, `{"operations":7}`, `{"operations":1}`))
	var sent []string
	for _, event := range list {
		words := event["event"].(string)
		if words == "waiting" {
			words += fmt.Sprint(" ", event["done"], "/", event["of"])
		}
		sent = append(sent, words)
	}
	want := "hello, progress, waiting 0/5, waiting 2/5, waiting 4/5, sample, answer, progress, waiting 0/1, sample, answer, bye"
	if got := strings.Join(sent, ", "); got != want || code != 0 {
		t.Fatalf("%s and not %s, code %d", got, want, code)
	}
	nanoseconds := func(place int) float64 { return list[place]["nanoseconds"].(float64) }
	whole := list[5]["section"].(map[string]any)["nanoseconds"].(float64)
	if nanoseconds(2) != 0 || nanoseconds(3) <= 0 || nanoseconds(4) <= nanoseconds(3) || whole <= nanoseconds(4) || nanoseconds(8) != 0 {
		t.Errorf("%v", list)
	}
	if got := fmt.Sprint(list[6]["rows"]); got != "[[0] [1] [3] [4]]" {
		t.Errorf("the answer is %s", got)
	}
}

func TestAJobWithTurnsNeedsThem(t *testing.T) {
	for turn, wanted := range map[string]string{
		`{"operations":1}`: "standard input ended where a turn was expected",
		`{"operations":0}`: "a turn of no operations",
		"nonsense":         `"nonsense\n" is no turn`,
	} {
		list, code := trialOf(t, inTurns(jobOf(t, "go", []string{"a", "b"}), turn))
		if said := message(t, list); code != 1 || !strings.Contains(said, wanted) {
			t.Errorf("given %s: %s", turn, said)
		}
	}
}

func TestTheCollectorIsAsItWasAfterTurns(t *testing.T) {
	before := debug.SetGCPercent(130)
	defer debug.SetGCPercent(before)
	trialOf(t, inTurns(jobOf(t, "go", []string{"a", "b"}), `{"operations":1}`, `{"operations":1}`))
	if now := debug.SetGCPercent(130); now != 130 {
		t.Errorf("the collector runs at %d %%", now)
	}
}

func TestPartsAreWholeCalls(t *testing.T) {
	var parts []string
	none := (*Turns)(nil)
	_ = none.Parts(3, 9, 2, func(from, to int) error {
		parts = append(parts, fmt.Sprint(from, "-", to))
		return nil
	})
	turns := &Turns{of: 20, left: 7}
	for _, each := range []int{2, 5} {
		part, err := turns.take(20, each)
		parts = append(parts, fmt.Sprint(part, " ", turns.left, " ", err))
	}
	if got := strings.Join(parts, ", "); got != "3-9, 6 1 <nil>, 5 0 <nil>" {
		t.Error(got)
	}
}
