package runner

import (
	"fmt"

	"dyno/runners/go/internal/protocol"
)

// Values are what the parameters of a statement are now.
type Values struct {
	step Step
	// kept is what earlier statements of the operation keep, by their positions.
	kept []Answer
	turn turn
}

// turn is the item or the row for which statements are repeated now.
type turn struct {
	// field is the position of the item's first field.
	field int
	// of is the statement of which there is a current row, and row which; -1 where there is none.
	of, row int
}

// Get is the value of a parameter: nil, an int64, a float64, a string or a []byte.
func (v *Values) Get(source protocol.MixValue) any {
	switch source.From {
	case protocol.FromField:
		return v.step.Value(source.Place)
	case protocol.FromItem:
		return v.step.Value(v.turn.field + source.Place)
	}
	row := 0
	if v.turn.of == source.Statement {
		row = v.turn.row
	}
	return v.kept[source.Statement].at(row, source.Place)
}

// Fill puts the values of parameters where a driver takes them.
func (v *Values) Fill(sources []protocol.MixValue, values []any) {
	for place, source := range sources {
		values[place] = v.Get(source)
	}
}

// program is the order of a class's statements: parts, of which each is repeated or not.
type program struct {
	parts []part
	// needs has for each statement those earlier ones without whose rows it is left out.
	needs [][]int
	keeps []*protocol.MixRows
}

// part is the statements from first up to end. Without over they are done once.
type part struct {
	first, end int
	over       *over
}

// over is what statements are repeated for: a list of the step, or the rows of a statement. A pause is one that repeats
// nothing.
type over struct {
	list  *protocol.StepList
	rows  int
	pause int64
}

// newProgram is that of a class. It refuses one that names what is not there.
func newProgram(mix *protocol.Mix, class *protocol.MixClass) (program, error) {
	wrong := func(what string) (program, error) {
		return program{}, fmt.Errorf("%s of class %s names what is not there: this is an error in dyno", what, class.Name)
	}
	var p program
	place := 0
	items := make([]int, len(class.Statements))
	for _, loop := range class.Loops {
		one := &over{rows: -1}
		switch {
		case loop.Over.List != nil && *loop.Over.List >= 0 && *loop.Over.List < len(mix.Lists):
			one.list = &mix.Lists[*loop.Over.List]
		case loop.Over.Rows != nil && *loop.Over.Rows >= 0 && *loop.Over.Rows < loop.First:
			one.rows = *loop.Over.Rows
		default:
			return wrong("a loop")
		}
		end := loop.First + loop.Count
		if loop.First < place || end > len(class.Statements) {
			return wrong("a loop")
		}
		if one.list != nil {
			for statement := loop.First; statement < end; statement++ {
				items[statement] = one.list.Columns
			}
		}
		p.pauses(class, place, loop.First)
		p.parts = append(p.parts, part{loop.First, end, one})
		place = end
	}
	p.pauses(class, place, len(class.Statements))
	for place, statement := range class.Statements {
		var needs []int
		for _, source := range statement.Parameters {
			known := 0
			switch source.From {
			case protocol.FromField:
				known = len(mix.Fields)
			case protocol.FromItem:
				known = items[place]
			case protocol.FromRow:
				if source.Statement >= 0 && source.Statement < place && p.keeps[source.Statement] != nil {
					known = p.keeps[source.Statement].Columns
				}
				needs = append(needs, source.Statement)
			}
			if source.Place < 0 || source.Place >= known {
				return wrong("a parameter")
			}
		}
		if len(statement.Text) != len(statement.Parameters)+1 {
			return wrong("a statement")
		}
		p.needs, p.keeps = append(p.needs, needs), append(p.keeps, statement.Keeps)
	}
	if field := class.RollbackIf; field != nil && (*field < 0 || *field >= len(mix.Fields)) {
		return wrong("the end")
	}
	return p, nil
}

// pauses adds the statements from first up to end, with the pauses before them and before what follows.
func (p *program) pauses(class *protocol.MixClass, first, end int) {
	for _, pause := range class.Pauses {
		if pause.Before >= first && pause.Before <= end {
			p.parts = append(p.parts, part{first, pause.Before, nil}, part{over: &over{pause: pause.Nanoseconds}})
			first = pause.Before
		}
	}
	p.parts = append(p.parts, part{first, end, nil})
}

// execute executes all statements for a client. It returns the position of one that returned no row where one
// must be; -1: none did.
func (p *program) execute(c *client, class int, step Step) (missing int, err error) {
	for i := range p.parts {
		part := &p.parts[i]
		count := 1
		if part.over != nil {
			count = part.over.count(step, c.kept[class])
		}
		for number := range count {
			turn := turn{of: -1}
			if part.over != nil {
				turn = part.over.turn(number)
			}
			for statement := part.first; statement < part.end; statement++ {
				found, err := p.one(c, class, statement, step, turn)
				if err != nil {
					return -1, err
				}
				if !found {
					return statement, nil
				}
			}
		}
	}
	return -1, nil
}

// one executes one statement. It returns false where that returned no row and must.
func (p *program) one(c *client, class, statement int, step Step, turn turn) (found bool, err error) {
	kept, keeps := c.kept[class], p.keeps[statement]
	if keeps != nil {
		kept[statement].begin(true)
	}
	if c.keeps {
		for _, need := range p.needs[statement] {
			if kept[need].Rows() == 0 {
				// Its row may be missing, and so may those that come of it.
				return true, nil
			}
		}
	}
	answer := c.answer
	if keeps != nil {
		answer = &kept[statement]
	}
	c.values = Values{step, kept, turn}
	if err := c.session.Run(c.firsts[class]+statement, &c.values, answer); err != nil {
		return true, err
	}
	return keeps == nil || keeps.MayMiss || !c.keeps || answer.Rows() > 0, nil
}

func (o *over) count(step Step, kept []Answer) int {
	if o.pause > 0 {
		momentIn(0).sleep(o.pause)
		return 0
	}
	if o.list == nil {
		return kept[o.rows].Rows()
	}
	count, _ := step.Value(o.list.Count).(int64)
	return int(count)
}

func (o *over) turn(number int) turn {
	if o.list == nil {
		return turn{of: o.rows, row: number}
	}
	return turn{field: o.list.First + number*o.list.Columns, of: -1}
}
