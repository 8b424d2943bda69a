package runner

import (
	"testing"

	"dyno/runners/go/internal/protocol"
)

func TestWhatBreaksAnInvariantOfAStoreIsCounted(t *testing.T) {
	type pair struct {
		key   int64
		value string
	}
	for name, one := range map[string]struct {
		of     protocol.StoreInvariant
		pairs  []pair
		broken int64
	}{
		"torn":      {protocol.StoreInvariant{Counts: "torn", Times: 3}, []pair{{1, "ababab"}, {2, "abab"}, {3, "ababac"}, {4, ""}}, 3},
		"missing":   {protocol.StoreInvariant{Counts: "missing", From: 1, To: 4}, []pair{{1, ""}, {2, ""}, {4, ""}, {9, ""}}, 1},
		"gaps":      {protocol.StoreInvariant{Counts: "gaps", From: 10, Below: 100, Step: 2}, []pair{{10, ""}, {14, ""}, {13, ""}}, 2},
		"no gaps":   {protocol.StoreInvariant{Counts: "gaps", From: 10, Below: 100, Step: 2}, []pair{{10, ""}, {11, ""}, {12, ""}, {103, ""}}, 0},
		"all there": {protocol.StoreInvariant{Counts: "missing", From: 1, To: 1}, []pair{{1, ""}}, 0},
	} {
		counting := counting{of: &one.of, clients: map[int64]*numbers{}}
		for _, pair := range one.pairs {
			counting.add(pair.key, []byte(pair.value))
		}
		if broken := counting.count(); broken != one.broken {
			t.Errorf("%s: %d broken and not %d", name, broken, one.broken)
		}
	}
}
