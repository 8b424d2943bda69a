package runner

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dyno/runners/go/internal/protocol"
)

// listener answers with two statements, or refuses what begins so, and remembers all.
type listener struct{ heard []string }

func (l *listener) sql() SQL {
	return SQL{
		Rows: func(sql string) ([][]protocol.Value, error) {
			l.heard = append(l.heard, sql)
			switch {
			case sql == "two":
				return [][]protocol.Value{{"a"}, {"b"}}, nil
			case sql == "7":
				return [][]protocol.Value{{int64(7)}}, nil
			case strings.HasPrefix(sql, "refuse"):
				return nil, errors.New("no, says the engine")
			case strings.HasPrefix(sql, "lose"):
				return nil, errors.New("lost")
			}
			return nil, nil
		},
		Code: func(err error) string {
			if strings.HasPrefix(err.Error(), "no") {
				return "E1"
			}
			return ""
		},
	}
}

func TestEachRowOfAQueryCanBeAStatement(t *testing.T) {
	var l listener
	if err := l.sql().Execute([]protocol.Statement{{SQL: "one"}, {SQL: "two", Each: true}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.heard, []string{"one", "two", "a", "b"}) {
		t.Error(l.heard)
	}
}

func TestOnlyWhatTheJobIgnoresIsIgnored(t *testing.T) {
	var l listener
	for _, code := range []string{"E1", "*"} {
		if err := l.sql().Execute([]protocol.Statement{{SQL: "refuse", Ignores: []string{code}}}); err != nil {
			t.Error(err)
		}
	}
	err := l.sql().Execute([]protocol.Statement{{Name: "do it", SQL: "refuse", Ignores: []string{"E2"}}})
	var refused *refused
	if !errors.As(err, &refused) || refused.code != "E1" || err.Error() != "cannot do it: no, says the engine" {
		t.Error(err)
	}
	if l.sql().Execute([]protocol.Statement{{SQL: "lose", Ignores: []string{"*"}}}) == nil {
		t.Error("a lost connection was ignored")
	}
}

func TestWhatTheFirstConnectionWasRefusedIsNotTriedAgain(t *testing.T) {
	settings := NewOnConnect(&protocol.Job{OnConnect: []protocol.Statement{
		{SQL: "refuse", Ignores: []string{"E1"}}, {SQL: "fine"},
	}})
	var first, second listener
	if err := errors.Join(settings.Apply(first.sql()), settings.Apply(second.sql())); err != nil {
		t.Fatal(err)
	}
	if len(first.heard) != 2 || !slices.Equal(second.heard, []string{"fine"}) {
		t.Error(first.heard, second.heard)
	}
}

func TestRowsAreReportedAsTheyAreAndRefusalsAsSuch(t *testing.T) {
	var l listener
	answers, err := l.sql().ReadBack([]protocol.Query{{Name: "a", Query: "7"}, {Name: "b", Query: "refuse"}})
	if err != nil || answers[0].Rows[0][0] != int64(7) || answers[1].Refused.Code != "E1" {
		t.Error(answers, err)
	}
	if _, err := l.sql().ReadBack([]protocol.Query{{Query: "lose"}}); err == nil {
		t.Error("a lost connection is no answer")
	}
	if number, err := l.sql().FirstNumber([]string{"refuse", "7", "lose"}); number != 7 || err != nil {
		t.Error(number, err)
	}
}
