package runner

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/runners/go/internal/protocol"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAMappedFileIsTheArray(t *testing.T) {
	cells, mapped, err := mapCells(file(t, "aabbccdd"), 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.release()
	if cells.Len() != 4 || string(cells.Get(2)) != "cc" || string(cells.Slice(1, 3).Bytes()) != "bbcc" {
		t.Errorf("%+v", cells)
	}
	for _, bad := range []struct {
		text         string
		count, width int
	}{{"aabbcc", 4, 2}, {"aabbccd", 3, 2}, {"", 0, 0}, {"a", math.MaxInt, 2}} {
		if _, _, err := mapCells(file(t, bad.text), bad.count, bad.width); err == nil || !strings.Contains(err.Error(), "another shape") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestABadStatementsFileIsNamedWithWhatIsWrong(t *testing.T) {
	for _, bad := range []struct {
		text   string
		count  int
		wanted string
	}{
		{"SELECT 1\x00SELECT", 2, "statement 2 has no NUL byte at its end"},
		{"SELECT 1\x00\x00", 2, "statement 2 is empty"},
		{"SELECT 1\x00", 2, "holds 1 statements where the job says 2"},
	} {
		if _, err := mapStatements(file(t, bad.text), bad.count); err == nil || !strings.Contains(err.Error(), bad.wanted) {
			t.Errorf("%v", err)
		}
	}
}

func TestStatementsThatReturnNothingAreKnown(t *testing.T) {
	for sql, answers := range map[string]bool{
		"INSERT INTO t VALUES(1)": false, " begin": false, "COMMIT": false, "UPDATE t SET a = 1": false,
		"SELECT 1": true, "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x": true, "PRAGMA page_size": true,
		"INSERT INTO t VALUES(1) returning a": true, "VALUES(1)": true, "(SELECT 1)": true, "": true,
	} {
		if MayAnswer(sql) != answers {
			t.Errorf("%q", sql)
		}
	}
}

func TestLinesComeWholeOrInPieces(t *testing.T) {
	cells, mapped, err := mapCells(file(t, "aabccdeef"), 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.release()
	load := &Load{Columns: []protocol.Column{{Name: "a", Bytes: 2}, {Name: "b", Bytes: 1}}, Rows: cells}
	for _, size := range []int{1, 2, 4, 5, 6, 13, 100} {
		var text []byte
		lines, buffer := NewLines(load, 0, 3), make([]byte, size)
		for {
			length, err := lines.Read(buffer)
			text = append(text, buffer[:length]...)
			if err == io.EOF {
				break
			}
		}
		if string(text) != "aa\tb\ncc\td\nee\tf\n" {
			t.Errorf("by %d: %q", size, text)
		}
	}
}

func TestTheOrderOfRowsDoesNotMatterAndEverythingElseDoes(t *testing.T) {
	digest := func(rows ...[]string) string {
		digest := newTableDigest(2, [][]byte{[]byte("a"), []byte("z")})
		for _, row := range rows {
			if err := digest.add([][]byte{[]byte(row[0]), []byte(row[1])}); err != nil {
				t.Fatal(err)
			}
		}
		answer := &Answer{}
		digest.report(answer)
		text, _ := json.Marshal(answer.Kept())
		return string(text)
	}
	right := digest([]string{"a", "b"}, []string{"c", "d"})
	if right != digest([]string{"c", "d"}, []string{"a", "b"}) || !strings.HasSuffix(right, `,["a","b"],[null]]`) {
		t.Error(right)
	}
	for _, wrong := range []string{
		digest([]string{"a", "d"}, []string{"c", "b"}), digest([]string{"b", "a"}, []string{"d", "c"}), digest([]string{"a", "b"}),
	} {
		if wrong == right {
			t.Error(wrong)
		}
	}
}

func TestChecksumsAreThoseOfZlib(t *testing.T) {
	// `python3 -c 'import zlib; print(zlib.crc32(b"key"), zlib.crc32(b"value"))'`
	digest := &storeDigest{}
	digest.add([]byte("key"), []byte("value"))
	if digest.keys != 2_324_736_937 || digest.values != 494_360_628 {
		t.Errorf("%+v", digest)
	}
}

func TestValuesKeepTheirKindThroughJSON(t *testing.T) {
	answer := residentAnswer()
	answer.begin(true)
	answer.Null()
	answer.Integer(math.MinInt64)
	answer.Real(1)
	answer.Real(math.Inf(-1))
	answer.Text("één")
	answer.TextBytes([]byte{0xff})
	answer.Blob([]byte{0, 255})
	for _, number := range []string{"-9223372036854775808", "9223372036854775808", "312.5000", "1e3", "-", "NaN"} {
		Number([]byte(number), answer)
	}
	answer.EndRow()
	text, _ := json.Marshal(answer.Kept())
	want := `[[null,-9223372036854775808,1.0,"-inf","één",{"blob":"ff"},{"blob":"00ff"},` +
		`-9223372036854775808,9.223372036854776e+18,312.5,1000.0,"-","NaN"]]`
	if string(text) != want {
		t.Errorf("%s and not %s", text, want)
	}
	answer.begin(false)
	answer.Integer(1)
	answer.EndRow()
	if answer.Rows() != 1 || len(answer.Kept()) != 0 {
		t.Error("rows that are not kept are counted only")
	}
}

func TestEveryOperationIsCountedOnce(t *testing.T) {
	watch := newLatency()
	for range 100 {
		watch.End(watch.Begin())
	}
	class := watch.classes("kv-get")[0]
	decoded, err := hdrhistogram.Decode([]byte(class.Response))
	if err != nil || class.Class != "kv-get" || class.Done != 100 || decoded.TotalCount() != 100 {
		t.Errorf("%v, %v", class, err)
	}
	var none *Latency
	none.End(none.Begin())
	if none.classes("kv-get") != nil {
		t.Error("what was not timed has no class")
	}
}

func TestASlowdownIsPlantedWithinTheClock(t *testing.T) {
	clock, err := newClock(&protocol.Job{Slowdown: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sample, _ := clock.time(1, func(*Turns) error {
		time.Sleep(5 * time.Millisecond)
		return nil
	})
	if sample.Section.Nanoseconds < 20_000_000 {
		t.Errorf("%+v", sample)
	}
}

func TestWorkShowsInTheCounters(t *testing.T) {
	clock, err := newClock(&protocol.Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var memory []byte
	sample, _ := clock.time(1, func(*Turns) error {
		memory = make([]byte, 64<<20)
		for i := range memory {
			memory[i] = byte(i)
		}
		return nil
	})
	if sample.Section.Client.UserNS+sample.Section.Client.SystemNS == 0 || sample.Section.Client.PeakMemoryBytes < int64(len(memory)) || sample.Section.Nanoseconds == 0 {
		t.Errorf("%+v", sample)
	}
}
