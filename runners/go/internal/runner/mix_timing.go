package runner

import (
	"strings"
	"time"

	"dyno/runners/go/internal/protocol"
)

// execution is how long one execution of a statement took, in nanoseconds. place is its statement's position among those
// of its class that are timed.
type execution struct {
	place int
	took  int64
}

// timing is a session that times each statement, for mixes that ask for it. Clients of all others have their session
// itself.
type timing struct {
	Session
	executions []execution
	// first is the position of the class's first statement among those of all classes.
	first int
	// shift is 1 in a transaction, whose beginning is timed as the first statement.
	shift int
	// end is the place of the transaction's end.
	end int
}

// start begins to time an operation of a class.
func (t *timing) start(class *protocol.MixClass, first int) {
	t.executions, t.first, t.shift, t.end = t.executions[:0], first, 0, 1+len(class.Statements)
	if class.Transaction != "" {
		t.shift = 1
	}
}

// time does something and keeps how long it took.
func (t *timing) time(place int, do func() error) error {
	began := time.Now()
	err := do()
	t.executions = append(t.executions, execution{place, int64(time.Since(began))})
	return err
}

func (t *timing) Run(statement int, values *Values, answer *Answer) error {
	return t.time(statement-t.first+t.shift, func() error { return t.Session.Run(statement, values, answer) })
}

func (t *timing) Begin(purpose protocol.Purpose) error {
	return t.time(0, func() error { return t.Session.Begin(purpose) })
}

func (t *timing) Commit() error { return t.time(t.end, t.Session.Commit) }

func (t *timing) Rollback() error { return t.time(t.end, t.Session.Rollback) }

// Codes are those of an error; none where the session has no codes.
func (t *timing) Codes(err error) []string {
	if coded, ok := t.Session.(Coded); ok {
		return coded.Codes(err)
	}
	return nil
}

// timedTexts are the texts of the statements of a class that are timed, with the beginning and the end of its transaction.
func timedTexts(class *protocol.MixClass) []string {
	var texts []string
	for _, statement := range class.Statements {
		texts = append(texts, strings.TrimSpace(strings.Join(statement.Text, "?")))
	}
	if class.Transaction != "" {
		texts = append(append([]string{"BEGIN"}, texts...), "COMMIT")
	}
	return texts
}

// nameStatements names the statements that were timed.
func nameStatements(mix *protocol.Mix, classes []protocol.Class) {
	for i := range mix.Classes {
		texts := timedTexts(&mix.Classes[i])
		for place := range classes[i].Statements {
			classes[i].Statements[place].Text = texts[place]
		}
	}
}
