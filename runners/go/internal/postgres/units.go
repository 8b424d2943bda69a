package postgres

import (
	"strconv"
	"strings"
)

// Kinds of what a unit measures: bytes, microseconds, or a bare number.
const (
	bare = iota
	memory
	duration
)

// unit is a kind and what the unit is in that kind.
type unit struct {
	kind  int
	value float64
}

// units are those of https://www.postgresql.org/docs/current/config-setting.html.
var units = map[string]unit{
	"":    {bare, 1},
	"B":   {memory, 1},
	"kB":  {memory, 1 << 10},
	"MB":  {memory, 1 << 20},
	"GB":  {memory, 1 << 30},
	"TB":  {memory, 1 << 40},
	"us":  {duration, 1},
	"ms":  {duration, 1e3},
	"s":   {duration, 1e6},
	"min": {duration, 60e6},
	"h":   {duration, 3_600e6},
	"d":   {duration, 86_400e6},
}

// areEqual says whether two spellings, as 64MB or 5min, are one value of a setting whose bare numbers are
// in a unit.
func areEqual(a, b, of string) bool {
	first, firstOK := amount(a, of)
	second, secondOK := amount(b, of)
	return firstOK && secondOK && first == second
}

func amount(text, of string) (unit, bool) {
	digits, name := split(strings.TrimSpace(text))
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return unit{}, false
	}
	if name == "" {
		name = of
	}
	// A unit may have a factor of its own, as 8kB.
	factor, base := split(name)
	if factor != "" {
		times, err := strconv.ParseFloat(factor, 64)
		if err != nil {
			return unit{}, false
		}
		number *= times
	}
	known, ok := units[base]
	return unit{known.kind, number * known.value}, ok
}

// split cuts a text where the letters begin.
func split(text string) (digits, letters string) {
	end := strings.IndexFunc(text, func(letter rune) bool {
		return 'a' <= letter && letter <= 'z' || 'A' <= letter && letter <= 'Z'
	})
	if end < 0 {
		end = len(text)
	}
	return strings.TrimSpace(text[:end]), text[end:]
}
