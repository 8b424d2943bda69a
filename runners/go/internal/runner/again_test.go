package runner

import (
	"reflect"
	"testing"

	"dyno/runners/go/internal/protocol"
)

func TestTheLastThatWroteToAStoreCounts(t *testing.T) {
	check := "SELECT 1"
	remove := func(store string) protocol.Test {
		return protocol.Test{Model: "kv-delete", Store: &protocol.Store{Name: store}}
	}
	settle := protocol.Test{Model: "kv-settle", Stores: []protocol.Store{{Name: "a"}, {Name: "b"}}}
	load := protocol.Test{Model: "bulk-load", Table: "t"}
	checked := protocol.Test{Model: "statements", Check: &check}
	for _, one := range []struct {
		tests []protocol.Test
		right []int
	}{
		{[]protocol.Test{remove("a"), remove("b"), remove("a"), {Model: "kv-scan"}}, []int{2, 1}},
		{[]protocol.Test{remove("a"), settle, remove("b")}, []int{2, 1}},
		{[]protocol.Test{load, checked}, []int{1}},
		{[]protocol.Test{checked, load}, []int{1}},
		{[]protocol.Test{checked, {Model: "statements"}}, nil},
	} {
		if places := lasting(one.tests); !reflect.DeepEqual(places, one.right) {
			t.Errorf("%v and should be %v", places, one.right)
		}
	}
}
