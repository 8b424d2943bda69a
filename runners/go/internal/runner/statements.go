package runner

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
)

// StatementList is the input of the model statements: a mapped file of texts, each ended by one NUL byte.
type StatementList struct {
	text mapping
	// ends is where each statement ends: the place of its NUL byte.
	ends []int
	// answers says of each whether it may return rows.
	answers []bool
}

// mapStatements maps a file and finds its statements, which reads every page of it.
func mapStatements(path string, count int) (*StatementList, error) {
	text, err := mapFile(path, "statements file")
	if err != nil {
		return nil, err
	}
	list := &StatementList{text: text}
	if err := list.find(); err != nil {
		return nil, fmt.Errorf("statements file %s: %w", path, err)
	}
	if list.Len() != count {
		return nil, fmt.Errorf("statements file %s holds %d statements where the job says %d", path, list.Len(), count)
	}
	return list, nil
}

func (l *StatementList) find() error {
	for start := 0; start < len(l.text); {
		length := bytes.IndexByte(l.text[start:], 0)
		number := len(l.ends) + 1
		if length < 0 {
			rest := l.text[start:]
			return fmt.Errorf("statement %d has no NUL byte at its end: the file is cut off (%q)", number, rest[:min(len(rest), 60)])
		}
		if length == 0 {
			return fmt.Errorf("statement %d is empty", number)
		}
		l.ends = append(l.ends, start+length)
		l.answers = append(l.answers, MayAnswer(String(l.text[start:start+length])))
		start += length + 1
	}
	return nil
}

// Len is how many statements there are.
func (l *StatementList) Len() int { return len(l.ends) }

// Bytes is how many bytes the texts have together, without the NUL bytes.
func (l *StatementList) Bytes() int { return len(l.text) - len(l.ends) }

// Get is the text of a statement, which shares the memory of the file.
func (l *StatementList) Get(index int) string {
	start := 0
	if index > 0 {
		start = l.ends[index-1] + 1
	}
	return String(l.text[start:l.ends[index]])
}

// MayAnswer says whether a statement may return rows. It is known before the clock starts, as a program
// knows of its own statements which of them it executes and which it queries.
func (l *StatementList) MayAnswer(index int) bool { return l.answers[index] }

// release gives the memory back and keeps the addresses: drivers remember texts of statements, which
// share them.
func (l *StatementList) release() {
	if len(l.text) > 0 {
		_ = syscall.Madvise(l.text, syscall.MADV_DONTNEED)
	}
}

// silent are the words with which statements begin that return no row.
var silent = map[string]bool{
	"ALTER": true, "ANALYZE": true, "BEGIN": true, "COMMIT": true, "CREATE": true, "DELETE": true, "DROP": true,
	"END": true, "INSERT": true, "REINDEX": true, "RELEASE": true, "REPLACE": true, "ROLLBACK": true,
	"SAVEPOINT": true, "SET": true, "START": true, "TRUNCATE": true, "UPDATE": true, "USE": true, "VACUUM": true,
}

// longestSilent is the length of the longest of them.
const longestSilent = 9

// MayAnswer says whether a statement may return rows: any of which this is not known to be false.
func MayAnswer(sql string) bool {
	sql = strings.TrimLeft(sql, " \t\r\n")
	end := strings.IndexFunc(sql, func(letter rune) bool { return !('A' <= letter && letter <= 'Z' || 'a' <= letter && letter <= 'z') })
	if end < 0 {
		end = len(sql)
	}
	if end > longestSilent || !silent[strings.ToUpper(sql[:end])] {
		return true
	}
	return strings.Contains(strings.ToUpper(sql), "RETURNING")
}

// quotedLetters is how many letters of a statement a message quotes.
const quotedLetters = 200

// quote is the beginning of a statement, for a message.
func quote(sql string) string {
	letters := 0
	for place := range sql {
		if letters++; letters > quotedLetters {
			return sql[:place] + "…"
		}
	}
	return strings.Clone(sql)
}
