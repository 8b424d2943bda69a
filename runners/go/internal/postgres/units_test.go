package postgres

import "testing"

func TestOneValueHasManySpellings(t *testing.T) {
	for _, equal := range [][3]string{
		{"6144MB", "6GB", "8kB"}, {"16384", "128MB", "8kB"}, {"300", "5min", "s"}, {"0.5h", "30min", "s"}, {"1.10", "1.1", ""},
	} {
		if !areEqual(equal[0], equal[1], equal[2]) {
			t.Error(equal)
		}
	}
	for _, other := range [][3]string{{"6GB", "6MB", "8kB"}, {"5min", "5MB", ""}, {"on", "off", ""}, {"1 potato", "1", ""}} {
		if areEqual(other[0], other[1], other[2]) {
			t.Error(other)
		}
	}
}
