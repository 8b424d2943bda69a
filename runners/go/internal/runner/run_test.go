package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

// toy is an engine that returns a number per statement and obeys a few words.
type toy struct{ changes int }

func openToy(job *protocol.Job) (Driver, *protocol.Hello, error) {
	if job.Driver == "broken" {
		return nil, nil, errors.New("cannot open")
	}
	return &toy{}, &protocol.Hello{EngineVersion: "1", DriverVersion: "1"}, nil
}

func (t *toy) Close() error { return nil }

func (t *toy) Changes() (int, error) { return t.changes, nil }

func (t *toy) Query(sql string, answer *Answer) error {
	answer.Text(sql)
	answer.EndRow()
	return nil
}

func (t *toy) Statements(list *StatementList, from, to int, answer *Answer) error {
	for i := from; i < to; i++ {
		switch sql := list.Get(i); {
		case sql == "panic":
			panic("the toy broke")
		case sql == "change":
			t.changes += 2
		case strings.HasPrefix(sql, "fail"):
			return At(i, errors.New("no such toy (code 7)"))
		default:
			answer.Integer(int64(i))
			answer.EndRow()
		}
	}
	return nil
}

// jobOf is a job whose tests are statements; a last one that begins with "?" is the check.
func jobOf(t *testing.T, driver string, tests ...[]string) string {
	t.Helper()
	folder := t.TempDir()
	var list []map[string]any
	for i, statements := range tests {
		test := map[string]any{"id": fmt.Sprint(i + 1), "model": "statements"}
		if last := len(statements) - 1; strings.HasPrefix(statements[last], "?") {
			test["check"] = statements[last][1:]
			statements = statements[:last]
		}
		file := filepath.Join(folder, fmt.Sprint(i, ".statements"))
		if err := os.WriteFile(file, []byte(strings.Join(statements, "\x00")+"\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
		test["file"], test["count"] = file, len(statements)
		list = append(list, test)
	}
	job, err := json.Marshal(map[string]any{
		"protocol": protocol.Version, "engine": "toy", "driver": driver, "build": "bundled",
		"settings": []any{}, "directory": folder, "tests": append([]map[string]any{}, list...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(job)
}

// trialOf runs a job and returns its events and the exit code.
func trialOf(t *testing.T, job string) ([]map[string]any, int) {
	t.Helper()
	var out bytes.Buffer
	code := run(map[string]Open{"toy/go": openToy, "toy/broken": openToy}, strings.NewReader(job), &out)
	var list []map[string]any
	for line := range strings.Lines(out.String()) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, event)
	}
	return list, code
}

func message(t *testing.T, list []map[string]any) string {
	t.Helper()
	last := list[len(list)-1]
	if last["event"] != "failed" {
		t.Fatalf("it should have failed: %v", list)
	}
	return last["message"].(string)
}

func TestATrialSendsItsEventsInOrder(t *testing.T) {
	list, code := trialOf(t, jobOf(t, "go", []string{"a", "change"}, []string{"b", "c", "?check"}))
	var names []string
	for _, event := range list {
		names = append(names, event["event"].(string))
	}
	want := "hello progress sample answer progress sample answer bye"
	if got := strings.Join(names, " "); got != want || code != 0 {
		t.Fatalf("%s and not %s, code %d", got, want, code)
	}
	first := list[2]
	if first["operations"] != 2.0 || first["rows"] != 3.0 || first["bytes"] != 7.0 || first["section"].(map[string]any)["nanoseconds"] == 0.0 {
		t.Errorf("%v", first)
	}
	if got := fmt.Sprint(list[6]["rows"]); got != "[[check]]" {
		t.Errorf("the answer is %s", got)
	}
}

func TestAFailedStatementIsNamedAndEndsTheTrial(t *testing.T) {
	long := "fail " + strings.Repeat("ä", 300)
	list, code := trialOf(t, jobOf(t, "go", []string{"a"}, []string{"a", long}, []string{"a"}))
	said := message(t, list)
	if code != 1 || !strings.HasPrefix(said, "statement 2 of 2 (fail ä") || !strings.HasSuffix(said, "ä…): no such toy (code 7)") {
		t.Error(said)
	}
	if list[len(list)-1]["test"] != "2" || strings.Count(said, "ä") != 195 {
		t.Errorf("%v", list[len(list)-1])
	}
}

func TestAPanicIsAFailure(t *testing.T) {
	list, code := trialOf(t, jobOf(t, "go", []string{"panic"}))
	if said := message(t, list); code != 1 || !strings.HasSuffix(said, "the toy broke") {
		t.Error(said)
	}
}

func TestWhatFailsBeforeTheFirstTestNamesNone(t *testing.T) {
	list, _ := trialOf(t, jobOf(t, "broken", []string{"a"}))
	if _, named := list[0]["test"]; named || message(t, list) != "cannot open" {
		t.Errorf("%v", list)
	}
	list, _ = trialOf(t, jobOf(t, "other", []string{"a"}))
	if said := message(t, list); said != "this runner serves toy/broken, toy/go and the job asks for toy/other" {
		t.Error(said)
	}
}

func TestAJobThatIsNoneIsRefusedWithoutItsValues(t *testing.T) {
	good := jobOf(t, "go", []string{"a"})
	for text, wanted := range map[string]string{
		"":                            "standard input is empty",
		`{"protocol":3`:               "ends too early",
		"nonsense":                    "not JSON at line 1",
		`{"protocol":3}`:              "missing field `engine`",
		`{"protocol":2,"novelty":[]}`: "version 2 of the contract and this runner speaks version 3",
		strings.Replace(good, `"bundled"`, `{"x":"hunter2"}`, 1): "a value of another kind",
		strings.Replace(good, `"toy"`, `["hunter2"]`, 1):         "a value of another kind at line 1",
	} {
		list, _ := trialOf(t, text)
		if said := message(t, list); !strings.Contains(said, wanted) || strings.Contains(said, "hunter2") {
			t.Errorf("given %q: %s", text, said)
		}
	}
}

func TestHolesAreNoPartOfADatabase(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "below", "short"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	sparse := filepath.Join(folder, "sparse")
	if err := os.WriteFile(sparse, bytes.Repeat([]byte{7}, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 1<<30); err != nil {
		t.Fatal(err)
	}
	size, err := folderBytes(folder)
	// A file system may give a file more blocks than were written, but not a gigabyte.
	if err != nil || size < 4096+5 || size > 1<<20 {
		t.Errorf("%d bytes, %v", size, err)
	}
}
