package runner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestATransactionThatIsOneStatementCommitsOnItsOwn(t *testing.T) {
	for _, one := range []struct {
		perCommit, each int
		wanted          string
	}{
		{1, 1, "0-1 1-2 2-3 3-4 4-5"},
		{2, 1, "(0-2) (2-4) (4-5)"},
		{2, 2, "0-2 2-4 4-5"},
		{3, 2, "(0-3) (3-5)"},
		{5, 1, "(0-5)"},
		{1000, 5, "0-5"},
		{2, AnyRows, "0-2 2-4 4-5"},
		{1, 0, "(0-1) (1-2) (2-3) (3-4) (4-5)"},
	} {
		load := &Load{Rows: CellsOf([]byte("abcde"), 1), PerCommit: one.perCommit}
		within := false
		transaction := func(work func() error) error {
			within = true
			defer func() { within = false }()
			return work()
		}
		var parts []string
		done, err := load.InTransactions(one.each, transaction, func(from, to int) error {
			part := fmt.Sprint(from, "-", to)
			if within {
				part = "(" + part + ")"
			}
			parts = append(parts, part)
			return nil
		})
		if got := strings.Join(parts, " "); got != one.wanted || done != 5 || err != nil {
			t.Errorf("%d rows a transaction, %d a statement: %s, %d rows, %v", one.perCommit, one.each, got, done, err)
		}
	}
}

func TestALoadEndsWithTheTransactionThatFails(t *testing.T) {
	full := errors.New("the disk is full")
	for _, each := range []int{1, 0} {
		load := &Load{Rows: CellsOf([]byte("abcde"), 1), PerCommit: 1}
		transaction := func(work func() error) error { return work() }
		calls := 0
		done, err := load.InTransactions(each, transaction, func(from, _ int) error {
			calls++
			if from == 2 {
				return full
			}
			return nil
		})
		if done != 2 || calls != 3 || !errors.Is(err, full) {
			t.Errorf("%d rows in %d calls, %v", done, calls, err)
		}
	}
}
