package runner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/runners/go/internal/protocol"
)

// stepHead is what a step has before its fields, in bytes: when it is due, and its class.
const stepHead = 16

// stepField is where a field lies in a step.
type stepField struct {
	start, end int
	kind       string
}

// steps are the steps of one client, or those that all share: a mapped file.
type steps struct {
	cells  Cells
	mapped mapping
	fields []stepField
}

// mapSteps maps every file of a mix.
func mapSteps(mix *protocol.Mix) ([]steps, error) {
	width := stepHead
	var fields []stepField
	for _, field := range mix.Fields {
		if !slices.Contains([]string{"integer", "real", "text", "varying-text"}, field.Kind) {
			return nil, fmt.Errorf("the field %s of a step is of the kind '%s', which this runner does not know", field.Name, field.Kind)
		}
		if (field.Kind == "integer" || field.Kind == "real") && field.Bytes != 8 {
			return nil, fmt.Errorf("the number %s of a step has %d bytes and not 8", field.Name, field.Bytes)
		}
		fields = append(fields, stepField{width, width + field.Bytes, field.Kind})
		width += field.Bytes
	}
	if mix.Think != nil && (*mix.Think < 0 || *mix.Think >= len(fields)) {
		return nil, errors.New("clients think by a field that is not there: this is an error in dyno")
	}
	for _, list := range mix.Lists {
		if list.Count < 0 || list.Count >= len(fields) || list.First < 0 || list.First+list.Columns*list.Most > len(fields) {
			return nil, fmt.Errorf("the list %s names fields that are not there: this is an error in dyno", list.Name)
		}
	}
	var all []steps
	for _, file := range mix.Steps {
		cells, mapped, err := mapCells(file.File, file.Count, width)
		if err != nil {
			return nil, err
		}
		list := steps{cells, mapped, fields}
		if list.len() == 0 {
			return nil, fmt.Errorf("there are no steps in %s", file.File)
		}
		for place := range list.len() {
			if list.get(place).number(8) >= uint64(len(mix.Classes)) {
				return nil, fmt.Errorf("step %d names a class that is not there", place)
			}
			for _, field := range fields {
				if field.kind == "varying-text" && (field.end < field.start+8 || list.get(place).number(field.start) > uint64(field.end-field.start-8)) {
					return nil, fmt.Errorf("a text of step %d is longer than its field", place)
				}
			}
			for _, of := range mix.Lists {
				if count, ok := list.get(place).Value(of.Count).(int64); !ok || count < 0 || count > int64(of.Most) {
					return nil, fmt.Errorf("the list %s of step %d has more than %d items", of.Name, place, of.Most)
				}
			}
		}
		all = append(all, list)
	}
	return all, nil
}

// len is how many there are; not 0.
func (s *steps) len() int { return s.cells.Len() }

// get is a step by its place.
func (s *steps) get(place int) Step { return Step{s.cells.Get(place), s.fields} }

// Step is what a client does next.
type Step struct {
	bytes  []byte
	fields []stepField
}

// due is when it is due, in nanoseconds since the clients began; 0: at once.
func (s Step) due() int64 { return int64(s.number(0)) }

// class is its class, by position.
func (s Step) class() int { return int(s.number(8)) }

// Value is the value of a field: an int64, a float64, or a string that shares the memory of the mapped file.
func (s Step) Value(field int) any {
	found := &s.fields[field]
	switch found.kind {
	case "text":
		return String(s.bytes[found.start:found.end])
	case "varying-text":
		text := s.bytes[found.start+8:]
		return String(text[:s.number(found.start)])
	case "real":
		return math.Float64frombits(s.number(found.start))
	}
	return int64(s.number(found.start))
}

func (s Step) number(start int) uint64 { return binary.LittleEndian.Uint64(s.bytes[start:]) }

// statementsOf are the statements of all classes, in order.
func statementsOf(mix *protocol.Mix) []protocol.MixStatement {
	var all []protocol.MixStatement
	for _, class := range mix.Classes {
		all = append(all, class.Statements...)
	}
	return all
}

// Has says whether a mix has transactions for a purpose.
func Has(mix *protocol.Mix, purpose protocol.Purpose) bool {
	return slices.ContainsFunc(mix.Classes, func(class protocol.MixClass) bool {
		return class.Transaction == purpose && len(class.Statements) > 0
	})
}

// Statement is a statement to prepare.
type Statement struct {
	// SQL is its text with the driver's placeholders.
	SQL string
	// Parameters has for each placeholder where its value comes from.
	Parameters []protocol.MixValue
	// IsSimple says whether it is not to be prepared beforehand.
	IsSimple bool
	// Text is what stands before, between and after its parameters.
	Text []string
}

// SendsText says whether no class of a mix has statements that are prepared beforehand.
func SendsText(mix *protocol.Mix) bool {
	return !slices.ContainsFunc(mix.Classes, func(class protocol.MixClass) bool { return class.Protocol != protocol.Simple })
}

// PrepareAll prepares the statements of all classes, in order, with the placeholders that a driver has;
// parameter spells one by its number from 1. A failure names the statement.
func PrepareAll(mix *protocol.Mix, parameter func(number int) string, prepare func(Statement) error) error {
	for i := range mix.Classes {
		isSimple := mix.Classes[i].Protocol == protocol.Simple
		for _, statement := range mix.Classes[i].Statements {
			var text strings.Builder
			for place, piece := range statement.Text {
				if place > 0 {
					text.WriteString(parameter(place))
				}
				text.WriteString(piece)
			}
			one := Statement{text.String(), statement.Parameters, isSimple, statement.Text}
			if err := prepare(one); err != nil {
				return fmt.Errorf("%s: %w", quote(one.SQL), err)
			}
		}
	}
	return nil
}
