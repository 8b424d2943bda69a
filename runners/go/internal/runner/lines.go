package runner

import "io"

// Lines reads rows as lines of cells with tabs between them: what LOAD DATA reads by default.
// Nothing is escaped, because cells are letters and digits.
type Lines struct {
	load *Load
	// next and end are the rows that are left.
	next, end int
	// rest is the end of a line that did not fit.
	rest []byte
}

// NewLines reads the rows of a load from one place to another.
func NewLines(load *Load, from, to int) *Lines { return &Lines{load: load, next: from, end: to} }

// Read writes whole lines while they fit, or a piece of one where none does.
func (l *Lines) Read(out []byte) (int, error) {
	line := l.load.Rows.width + len(l.load.Columns)
	length := copy(out, l.rest)
	l.rest = l.rest[length:]
	for l.next < l.end && len(out)-length >= line {
		l.write(out[length : length+line])
		length += line
	}
	if l.next < l.end && length == 0 && len(out) > 0 {
		whole := make([]byte, line)
		l.write(whole)
		length = copy(out, whole)
		l.rest = whole[length:]
	}
	if length == 0 && l.next == l.end {
		return 0, io.EOF
	}
	return length, nil
}

// write writes the next row as a line.
func (l *Lines) write(line []byte) {
	row := l.load.Rows.Get(l.next)
	l.next++
	place := 0
	for i := range l.load.Columns {
		width := copy(line[place:], row[:l.load.Columns[i].Bytes])
		row = row[width:]
		line[place+width] = '\t'
		place += width + 1
	}
	line[place-1] = '\n'
}
