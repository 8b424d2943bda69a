package runner

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

// chained is a mix of one client and one class, whose step has a number, the count of a list and its items.
func chained(t *testing.T, class string, step ...byte) *protocol.Mix {
	t.Helper()
	mix := mixOf(t, []string{"write class"}, 1, make([]dueClass, 1))
	bytes := make([]byte, stepHead+8*4)
	for place, number := range step {
		bytes[stepHead+8*place] = number
	}
	if err := os.WriteFile(mix.Steps[0].File, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	mix.Fields = nil
	for _, name := range []string{"undo", "count", "item 1", "item 2"} {
		mix.Fields = append(mix.Fields, protocol.StepField{Name: name, Kind: "integer", Bytes: 8})
	}
	mix.Lists = []protocol.StepList{{Name: "list", Count: 1, First: 2, Columns: 1, Most: 2}}
	if err := json.Unmarshal([]byte(class), &mix.Classes[0]); err != nil {
		t.Fatal(err)
	}
	return mix
}

const repeats = `{"statements": [
	{"text": ["rows "], "parameters": [], "keeps": {"columns": 3, "all": true}},
	{"text": ["for ", "", ""], "parameters": [{"item": 0}, {"statement": 0, "column": 2}]},
	{"text": ["each ", ""], "parameters": [{"statement": 0, "column": 2}]},
	{"text": ["after ", ""], "parameters": [{"statement": 0, "column": 1}]}],
	"loops": [{"first": 1, "count": 1, "over": {"list": 0}}, {"first": 2, "count": 1, "over": {"rows": 0}}],
	"rollback_if": 0}`

func TestRowsAndItemsAreParametersOfStatementsThatAreRepeated(t *testing.T) {
	want := []string{"begin write", "rows ", "for $1$28row 0", "for $1$29row 0", "each $1row 0", "each $1row 1", "after $10", "commit"}
	sample, lines, err := mixed(t, chained(t, repeats, 0, 2, 8, 9))
	if err != nil || !slices.Equal(lines, want) || sample.Classes[0].Undone != 0 {
		t.Errorf("%q %v", lines, err)
	}
	want = []string{"begin write", "rows ", "each $1row 0", "each $1row 1", "after $10", "rollback"}
	sample, lines, err = mixed(t, chained(t, repeats, 1, 0))
	if err != nil || !slices.Equal(lines, want) || sample.Classes[0].Undone != 1 || sample.Operations != 1 {
		t.Errorf("%q %v", lines, err)
	}
}

const misses = `{"statements": [
	{"text": ["none "], "parameters": [], "keeps": {"columns": 1, "may_miss": true}},
	{"text": ["some ", ""], "parameters": [{"statement": 0, "column": 0}], "keeps": {"columns": 1}},
	{"text": ["use ", ""], "parameters": [{"statement": 1, "column": 0}]},
	{"text": ["always ", ""], "parameters": [1]}]}`

func TestARowThatIsMissingFailsTheOperationUnlessItMayBe(t *testing.T) {
	want := []string{"begin write", "none ", "always $10", "commit"}
	if _, lines, err := mixed(t, chained(t, misses)); err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q %v", lines, err)
	}
	want = []string{"begin write", "none ", "rollback"}
	_, lines, err := mixed(t, chained(t, strings.Replace(misses, "true", "false", 1)))
	if err == nil || !strings.HasSuffix(err.Error(), "no row came of none ") || !slices.Equal(lines, want) {
		t.Errorf("%q %v", lines, err)
	}
}

func TestAClassThatNamesWhatIsNotThereIsRefused(t *testing.T) {
	for _, class := range []string{
		strings.Replace(repeats, `"count": 1, "over": {"list": 0}`, `"count": 9, "over": {"list": 0}`, 1),
		strings.Replace(repeats, `{"rows": 0}`, `{"rows": 2}`, 1),
		strings.Replace(repeats, `{"item": 0}`, `{"item": 1}`, 1),
		strings.Replace(repeats, `"column": 2`, `"column": 3`, 1),
		strings.Replace(repeats, `"rollback_if": 0`, `"rollback_if": 4`, 1),
	} {
		work := &mixWork{mix: chained(t, class)}
		if err := work.load(); err == nil || !strings.Contains(err.Error(), "this is an error in dyno") {
			t.Errorf("%s: %v", class, err)
		}
		work.release()
	}
	work := &mixWork{mix: chained(t, repeats, 0, 3)}
	if err := work.load(); err == nil || !strings.Contains(err.Error(), "has more than 2 items") {
		t.Errorf("%v", err)
	}
}

func TestAClientThinksBeforeAStep(t *testing.T) {
	mix := chained(t, `{"statements": [{"text": ["get ", ""], "parameters": [1]}]}`, 0, 0, 100)
	think := 2
	mix.Think = &think
	// The steps' third number: 100 ns at least.
	sample, lines, err := mixed(t, mix)
	if err != nil || sample.Operations != 1 || len(lines) != 3 || sample.Section.Nanoseconds < 100 {
		t.Errorf("%q %v %+v", lines, err, sample)
	}
	think = 4
	work := &mixWork{mix: mix}
	if err := work.load(); err == nil || !strings.Contains(err.Error(), "clients think by a field") {
		t.Errorf("%v", err)
	}
}
