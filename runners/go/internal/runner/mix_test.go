package runner

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dyno/runners/go/internal/protocol"
)

// mixToy gives sessions that are made of nothing, and remembers what all of them have done, in order.
type mixToy struct {
	lock   sync.Mutex
	lines  []string
	tries  int
	closed int
}

type toySession struct {
	all        *mixToy
	statements []Statement
}

var errBusy = errors.New("busy")

func (t *mixToy) Close() error { return nil }

func (t *mixToy) Session(int) (Session, error) { return &toySession{all: t}, nil }

func (t *mixToy) Connect() (Session, error) { return &toySession{all: t}, nil }

func (t *mixToy) StepAside(meanwhile func()) error {
	t.lines = append(t.lines, "aside")
	meanwhile()
	t.lines = append(t.lines, "there again")
	return nil
}

func (s *toySession) Prepare(mix *protocol.Mix) error {
	return PrepareAll(mix, func(number int) string { return fmt.Sprint("$", number) }, func(one Statement) error {
		if one.SQL == "refused $1" {
			return errors.New("cannot prepare it")
		}
		s.statements = append(s.statements, one)
		return nil
	})
}

func (s *toySession) note(line string) {
	s.all.lock.Lock()
	defer s.all.lock.Unlock()
	s.all.lines = append(s.all.lines, line)
}

func (s *toySession) try() int {
	s.all.lock.Lock()
	defer s.all.lock.Unlock()
	s.all.tries++
	return s.all.tries
}

func (s *toySession) Run(place int, from *Values, answer *Answer) error {
	one := s.statements[place]
	word, _, _ := strings.Cut(one.SQL, " ")
	switch {
	case word == "panic":
		panic("the toy broke")
	case word == "fail":
		return errors.New("no such toy")
	case word == "sleep":
		time.Sleep(5 * time.Millisecond)
	case word == "busy":
		return errBusy
	case word == "rows":
		for number := range 2 {
			answer.Text("words")
			answer.Integer(int64(number))
			answer.Text(fmt.Sprint("row ", number))
			answer.EndRow()
		}
	// Two of three tries are in another client's way.
	case word == "crowded" && s.try()%3 != 0:
		return errBusy
	}
	values := make([]any, len(one.Parameters))
	from.Fill(one.Parameters, values)
	s.note(fmt.Sprint(append([]any{one.SQL}, values...)...))
	return nil
}

func (s *toySession) Begin(purpose protocol.Purpose) error {
	s.note("begin " + string(purpose))
	return nil
}

func (s *toySession) Commit() error {
	s.note("commit")
	return nil
}

func (s *toySession) Rollback() error {
	s.note("rollback")
	return nil
}

func (s *toySession) MayPass(err error) bool { return errors.Is(err, errBusy) }

func (s *toySession) Close() error {
	s.all.lock.Lock()
	defer s.all.lock.Unlock()
	s.all.closed++
	return nil
}

type dueClass struct{ due, class uint64 }

// mixOf is a mix of classes of one statement each; a class is "word" or "purpose word".
func mixOf(t *testing.T, classes []string, clients int, files ...[]dueClass) *protocol.Mix {
	t.Helper()
	mix := &protocol.Mix{
		Fields:     []protocol.StepField{{Name: "place", Kind: "integer", Bytes: 8}, {Name: "word", Kind: "text", Bytes: 3}},
		Clients:    clients,
		PatienceNS: 50_000_000,
	}
	for _, text := range classes {
		purpose, word, found := strings.Cut(text, " ")
		if !found {
			purpose, word = "", text
		}
		statement := protocol.MixStatement{Text: []string{word + " ", ""}, Parameters: []protocol.MixValue{{}}}
		mix.Classes = append(mix.Classes, protocol.MixClass{
			Name: word, Transaction: protocol.Purpose(purpose), Statements: []protocol.MixStatement{statement},
		})
	}
	folder := t.TempDir()
	for number, steps := range files {
		var text []byte
		for place, step := range steps {
			for _, value := range []uint64{step.due, step.class, uint64(place)} {
				text = binary.LittleEndian.AppendUint64(text, value)
			}
			text = append(text, "abc"...)
		}
		file := filepath.Join(folder, fmt.Sprint(number))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		mix.Steps = append(mix.Steps, protocol.StepFile{File: file, Count: len(steps)})
	}
	return mix
}

// mixed does a mix, in a session for each client.
func mixed(t *testing.T, mix *protocol.Mix) (protocol.Sample, []string, error) {
	t.Helper()
	return visited(t, mix, mix.Clients)
}

// visited does a mix, in this many sessions.
func visited(t *testing.T, mix *protocol.Mix, sessions int) (protocol.Sample, []string, error) {
	t.Helper()
	clock, err := newClock(&protocol.Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	toy := &mixToy{}
	work := &mixWork{mix: mix, driver: toy}
	defer work.release()
	sample, err := work.perform(&trial{clock: clock})
	if toy.closed != sessions {
		t.Errorf("%d sessions of %d are closed", toy.closed, sessions)
	}
	return sample, toy.lines, err
}

// countsOf is what was done, failed and retried of each class.
func countsOf(classes []protocol.Class) (all [][3]int64) {
	for _, class := range classes {
		all = append(all, [3]int64{class.Done, class.Failed, class.Retried})
	}
	return all
}

func timesOf(t *testing.T, text string) *hdrhistogram.Histogram {
	t.Helper()
	histogram, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return histogram
}

func TestStatementsOfAMixHavePlaceholdersAndValues(t *testing.T) {
	mix := mixOf(t, []string{"get", "write put"}, 1, []dueClass{{0, 1}, {0, 0}})
	mix.Classes[0].Statements[0] = protocol.MixStatement{Text: []string{"get ", " ", ""}, Parameters: []protocol.MixValue{{Place: 1}, {}}}
	sample, lines, err := mixed(t, mix)
	want := []string{"begin write", "put $10", "commit", "get $1 $2abc1"}
	if err != nil || !slices.Equal(lines, want) || sample.Operations != 2 || sample.Ticks != nil {
		t.Errorf("%q %v %+v", lines, err, sample)
	}
}

func TestWhatIsInSomebodysWayIsTriedAgainAndUndoneBefore(t *testing.T) {
	sample, lines, err := mixed(t, mixOf(t, []string{"read crowded"}, 1, make([]dueClass, 2)))
	if got := countsOf(sample.Classes); err != nil || !reflect.DeepEqual(got, [][3]int64{{2, 0, 4}}) {
		t.Errorf("%v %v", got, err)
	}
	one := []string{"begin read", "rollback", "begin read", "rollback", "begin read", "crowded $1", "commit"}
	if len(lines) != 2*len(one) {
		t.Fatalf("%q", lines)
	}
	for place, line := range lines {
		if !strings.HasPrefix(line, one[place%len(one)]) {
			t.Errorf("%d: %q", place, line)
		}
	}
}

func TestStatementsOfOperationsThatAreDoneAreTimed(t *testing.T) {
	mix := mixOf(t, []string{"write crowded", "get"}, 1, []dueClass{{0, 0}, {0, 1}, {0, 0}})
	mix.TimesStatements = true
	sample, _, err := mixed(t, mix)
	if err != nil {
		t.Fatal(err)
	}
	// Tries that were repeated do not count.
	for class, wanted := range [][]string{{"BEGIN", "crowded ?", "COMMIT"}, {"get ?"}} {
		reported := sample.Classes[class]
		if len(reported.Statements) != len(wanted) {
			t.Fatalf("%+v", reported.Statements)
		}
		for place, statement := range reported.Statements {
			if times := timesOf(t, statement.Response); statement.Text != wanted[place] || times.TotalCount() != reported.Done {
				t.Errorf("%q: %d of %d", statement.Text, times.TotalCount(), reported.Done)
			}
		}
	}
	mix.TimesStatements = false
	if sample, _, err := mixed(t, mix); err != nil || sample.Classes[0].Statements != nil {
		t.Errorf("%v %+v", err, sample)
	}
}

func TestAClassHasItsOwnPatience(t *testing.T) {
	mix := mixOf(t, []string{"busy", "crowded"}, 1, []dueClass{{0, 1}, {0, 0}})
	short := int64(1)
	mix.Classes[0].PatienceNS, mix.PatienceNS = &short, 60_000_000_000
	sample, _, err := mixed(t, mix)
	if err != nil || sample.Classes[0].Failed != 1 || sample.Classes[1].Done != 1 {
		t.Errorf("%v %+v", err, sample)
	}
	if got := mix.ShortestPatience(); got != short {
		t.Errorf("%d", got)
	}
}

func TestWhatNeverSucceedsIsCountedWhenPatienceEnds(t *testing.T) {
	sample, _, err := mixed(t, mixOf(t, []string{"busy", "get"}, 2, []dueClass{{0, 0}, {0, 1}}, []dueClass{{0, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	busy, get := sample.Classes[0], sample.Classes[1]
	if busy.Done != 0 || busy.Failed != 1 || busy.Retried == 0 || busy.Response != "" || get.Done != 2 || sample.Operations != 2 {
		t.Errorf("%+v", sample)
	}
}

func TestAnyOtherFailureEndsTheMixAndNamesTheClient(t *testing.T) {
	for word, wanted := range map[string]string{
		"fail":    "client 2: class fail: no such toy",
		"panic":   "client 2: the runner panicked, which is an error in the runner or the driver: the toy broke",
		"refused": "cannot prepare it",
	} {
		slow := slices.Repeat([]dueClass{{0, 1}}, 3)
		_, _, err := mixed(t, mixOf(t, []string{word, "sleep"}, 3, slow, []dueClass{{0, 1}, {0, 0}}, slow))
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestStepsThatAreSharedAreDoneOnceAndNotBeforeTheyAreDue(t *testing.T) {
	var steps []dueClass
	for place := range uint64(100) {
		steps = append(steps, dueClass{(place + 1) * 200_000, 0})
	}
	sample, lines, err := mixed(t, mixOf(t, []string{"get"}, 4, steps))
	if got := countsOf(sample.Classes); err != nil || !reflect.DeepEqual(got, [][3]int64{{100, 0, 0}}) {
		t.Fatalf("%v %v", got, err)
	}
	slices.Sort(lines)
	if len(slices.Compact(lines)) != 100 || sample.Section.Nanoseconds < 20_000_000 {
		t.Errorf("%d, %d ns", len(lines), sample.Section.Nanoseconds)
	}
	class := sample.Classes[0]
	for _, text := range []string{class.Response, class.Service, class.Wait, class.Late} {
		if count := timesOf(t, text).TotalCount(); count != 100 {
			t.Errorf("%d durations", count)
		}
	}
}

func TestAMixThatLastsATimeBeginsAnewAndEnds(t *testing.T) {
	mix := mixOf(t, []string{"sleep"}, 2, make([]dueClass, 2), make([]dueClass, 3))
	mix.Lasts = &protocol.Lasts{DurationNS: 60_000_000, WarmUpNS: 20_000_000}
	sample, lines, err := mixed(t, mix)
	if err != nil || sample.Section.Nanoseconds != 60_000_000 || sample.Operations <= 4 || len(lines) <= sample.Operations {
		t.Fatalf("%v %+v %d", err, sample, len(lines))
	}
	if len(sample.Ticks) != 1 || sample.Ticks[0].EndedNS != 60_000_000 || sample.Ticks[0].Classes[0].Done != int64(sample.Operations) {
		t.Errorf("%+v", sample.Ticks)
	}
}

func TestWhatWasDoneIsReportedWhileClientsWork(t *testing.T) {
	mix := mixOf(t, []string{"sleep"}, 2, make([]dueClass, 2), make([]dueClass, 3))
	mix.Lasts, mix.IntervalNS = &protocol.Lasts{DurationNS: 2_300_000_000, WarmUpNS: 20_000_000}, 1_000_000_000
	clock, err := newClock(&protocol.Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	work := &mixWork{mix: mix, driver: &mixToy{}}
	defer work.release()
	sample, err := work.perform(&trial{clock: clock, events: newEvents(&output)})
	if err != nil {
		t.Fatal(err)
	}
	var reported int64
	lines := json.NewDecoder(&output)
	for number := int64(1); number <= 2; number++ {
		var interval protocol.Interval
		if err := lines.Decode(&interval); err != nil || interval.ElapsedNS != number*1_000_000_000 || interval.Nanoseconds != 1_000_000_000 {
			t.Fatalf("%v %+v", err, interval)
		}
		reported += interval.Classes[0].Done
		if timesOf(t, interval.Classes[0].Response).TotalCount() != interval.Classes[0].Done {
			t.Errorf("%+v", interval)
		}
	}
	// Each interval has the operations that were handed over since the one before.
	if reported == 0 || reported > sample.Classes[0].Done || lines.More() {
		t.Errorf("%d of %d", reported, sample.Classes[0].Done)
	}
}

// lastingSteps are as many as take longer than a section of 300 ms: due at its beginning, at 200 ms, and after its end.
func lastingSteps() (steps []dueClass) {
	for _, due := range []uint64{1, 200_000_000} {
		for range 50 {
			steps = append(steps, dueClass{due, 0})
		}
	}
	return append(steps, dueClass{400_000_000, 0})
}

func TestWhatIsDueAndNotDoneAtTheEndCountsWithItsAge(t *testing.T) {
	for _, clients := range []int{1, 2} {
		mix := mixOf(t, []string{"sleep"}, clients, lastingSteps())
		mix.Lasts = &protocol.Lasts{DurationNS: 300_000_000}
		sample, _, err := mixed(t, mix)
		if err != nil {
			t.Fatal(err)
		}
		class := sample.Classes[0]
		ages := timesOf(t, class.Unfinished)
		if class.Done+ages.TotalCount() != 100 || ages.Max() > 300_200_000 {
			t.Errorf("%d done and %d not, up to %d ns", class.Done, ages.TotalCount(), ages.Max())
		}
		if sample.Ticks[0].Succeeded == "" {
			t.Error("no hundredth of a second in which an operation succeeded")
		}
	}
}

func TestTheSecondsOfClientsAreJoinedAndPacked(t *testing.T) {
	board := newBoard(window{0, 5 * tickNS}, 1)
	recorders := []*recorder{newRecorder(board, 1, false), newRecorder(board, 1, false)}
	for second := range int64(5) {
		recorders[0].done(0, times{sent: 0, done: second*tickNS + 7}, 0, false)
	}
	recorders[0].end()
	if board.packed < 2 || board.ticks[0].classes[0].response.Histogram != nil {
		t.Errorf("%d seconds are packed", board.packed)
	}
	// A client that was late adds to a second that is packed.
	recorders[1].done(0, times{sent: 0, done: tickNS / 2}, 0, false)
	recorders[1].end()
	ticks := board.list([]string{"a"})
	if times := timesOf(t, ticks[0].Classes[0].Response); times.TotalCount() != 2 || ticks[0].Classes[0].Done != 2 {
		t.Errorf("%d in the first second", times.TotalCount())
	}
	if got := ticks[0].Succeeded; got != "4000000000001" {
		t.Errorf("hundredths %s", got)
	}
}

func TestAMixThatMakesNoSenseIsRefused(t *testing.T) {
	for wanted, change := range map[string]func(*protocol.Mix){
		"a mix of no clients":                          func(mix *protocol.Mix) { mix.Clients = 0 },
		"there are 2 files of steps for 3 clients":     func(mix *protocol.Mix) { mix.Clients = 3 },
		"step 1 names a class that is not there":       func(mix *protocol.Mix) { mix.Classes = mix.Classes[:1] },
		"the number place of a step has 4 bytes":       func(mix *protocol.Mix) { mix.Fields[0].Bytes = 4 },
		"names what is not there":                      func(mix *protocol.Mix) { mix.Classes[0].Statements[0].Parameters[0].Place = 2 },
		"54 bytes where 3 cells of 27 bytes are promi": func(mix *protocol.Mix) { mix.Steps[0].Count = 3 },
	} {
		mix := mixOf(t, []string{"get", "put"}, 2, []dueClass{{0, 0}, {0, 1}}, []dueClass{{0, 0}})
		change(mix)
		work := &mixWork{mix: mix, driver: &mixToy{}}
		if _, err := work.perform(&trial{}); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q: %v", wanted, err)
		}
	}
}

func TestWhatEndsWithinTheWindowCountsOnceAndInItsTick(t *testing.T) {
	board := newBoard(window{tickNS, 3*tickNS + tickNS/2}, 2)
	classes := []string{"a", "b"}
	closed := func(done int64) times { return times{0, done - 1, done - 1, done} }
	var sum []counts
	for range 2 {
		recorder := newRecorder(board, 2, false)
		recorder.done(0, closed(tickNS-1), 0, false)
		recorder.done(0, closed(tickNS), 3, true)
		recorder.failed(1, closed(2*tickNS-1), 1, "no row")
		recorder.done(1, closed(3*tickNS+1), 0, false)
		recorder.done(1, closed(board.window.until), 0, false)
		sum = recorder.end()
	}
	if got := countsOf(classesOf(sum, classes)); !reflect.DeepEqual(got, [][3]int64{{1, 0, 3}, {1, 1, 1}}) {
		t.Errorf("%v", got)
	}
	var got [][3]int64
	for _, tick := range board.list(classes) {
		got = append(got, [3]int64{tick.EndedNS, tick.Classes[0].Done, tick.Classes[1].Done})
	}
	if !reflect.DeepEqual(got, [][3]int64{{tickNS, 2, 0}, {2 * tickNS, 0, 0}, {5 * tickNS / 2, 0, 2}}) {
		t.Errorf("%v", got)
	}
}

func TestAWaitIsSplitIntoNobodyFreeAndLate(t *testing.T) {
	recorder := newRecorder(newBoard(window{0, tickNS}, 1), 1, true)
	recorder.done(0, times{1000, 500, 1100, 1300}, 0, false)
	recorder.done(0, times{1000, 1500, 1501, 1600}, 0, false)
	class := classesOf(recorder.end(), []string{"a"})[0]
	for text, want := range map[string][]int64{
		class.Response: {300, 600}, class.Service: {99, 200}, class.Wait: {0, 500}, class.Late: {1, 100},
	} {
		if times := timesOf(t, text); times.Min() != want[0] || times.Max() != want[1] {
			t.Errorf("%v: %d to %d", want, times.Min(), times.Max())
		}
	}
}

func TestAJobHasAMix(t *testing.T) {
	text := `{"protocol":3,"engine":"null","driver":"go","build":"bundled","settings":[],"directory":"/","tests":[{"id":"1",
		"model":"mix","classes":[{"name":"a","transaction":"write","statements":[{"text":["x",""],"parameters":[0]}]}],
		"fields":[{"name":"f","kind":"text","bytes":3}],"clients":2,"steps":[{"file":"f","count":4}],
		"lasts":{"duration_ns":5},"patience_ns":7}]}`
	job, err := ReadJob(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	mix := job.Tests[0].Mix
	if mix.Clients != 2 || mix.Classes[0].Transaction != protocol.Write || mix.Steps[0].Count != 4 || mix.Lasts.DurationNS != 5 || mix.PatienceNS != 7 {
		t.Errorf("%+v", mix)
	}
}
