package runner

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// counting is what has been counted for one invariant of a store.
type counting struct {
	of *protocol.StoreInvariant
	// broken is how many values are torn, found how many keys of a range are there.
	broken, found int64
	// clients has for each client how many of its numbers are there, and the largest.
	clients map[int64]*numbers
	// pairs are those that are to be reported.
	pairs []pair
}

type pair struct {
	key   int64
	value string
}

type numbers struct{ count, last int64 }

func (c *counting) add(key int64, value []byte) {
	of := c.of
	switch {
	case of.Counts == "torn" && !isWhole(value, of.Times):
		c.broken++
	case (of.Counts == "missing" || of.Counts == "count") && key >= of.From && key <= of.To:
		c.found++
	case of.Counts == "pairs" && key >= of.From && key <= of.To:
		c.pairs = append(c.pairs, pair{key, string(value)})
	case of.Counts == "gaps" && key >= of.From && key < of.Below:
		client := (key - of.From) % of.Step
		if c.clients[client] == nil {
			c.clients[client] = &numbers{}
		}
		own := c.clients[client]
		own.count, own.last = own.count+1, max(own.last, key)
	}
}

// count is how many break the invariant.
func (c *counting) count() int64 {
	switch c.of.Counts {
	case "count":
		return c.found
	case "missing":
		return c.of.To - c.of.From + 1 - c.found
	case "gaps":
		gaps := int64(0)
		for client, own := range c.clients {
			if own.last-c.of.From-client != (own.count-1)*c.of.Step {
				gaps++
			}
		}
		return gaps
	}
	return c.broken
}

// isWhole says whether a value repeats the same bytes this many times.
func isWhole(value []byte, times int) bool {
	piece := len(value) / max(times, 1)
	return piece > 0 && len(value) == piece*times && bytes.Equal(value, bytes.Repeat(value[:piece], times))
}

// readStore reads a store once and answers a row for each invariant: its place, what it says, the number that break it;
// then one for each pair that is to be reported.
func readStore(mix *protocol.Mix, store KeyValue, answer *Answer) error {
	if err := store.OpenStore(mix.Store); err != nil {
		return err
	}
	var all []*counting
	for i := range mix.Invariants {
		all = append(all, &counting{of: &mix.Invariants[i], clients: map[int64]*numbers{}})
	}
	odd := -1
	err := store.ScanPairs(func(key, value []byte) {
		if len(key) != 8 {
			odd = len(key)
			return
		}
		for _, one := range all {
			one.add(int64(binary.BigEndian.Uint64(key)), value)
		}
	})
	if err == nil && odd >= 0 {
		err = fmt.Errorf("a key has %d bytes, and all that were put have 8", odd)
	}
	answer.begin(true)
	for place, one := range all {
		answer.Integer(int64(place + 1))
		answer.Text(one.of.Says)
		answer.Integer(one.count())
		answer.EndRow()
	}
	for _, one := range all {
		for _, pair := range one.pairs {
			answer.Integer(pair.key)
			answer.Text(pair.value)
			answer.EndRow()
		}
	}
	return err
}
