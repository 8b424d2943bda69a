// Command by-hand is the shortest honest program for the work of bench/go.py: github.com/mattn/go-sqlite3 by database/sql,
// as its manual uses it, on a database in memory. It gets the kind of work, a file, and statements for before the clock
// starts. For each part of the work it prints nanoseconds by the clock, and of the processor.
package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	_ "github.com/mattn/go-sqlite3"
)

// Bytes; a step ends with its number.
const cellBytes, rowBytes, stepBytes, numberAt = 8, 24, 24, 16

// manyRows is how many rows the runner inserts by a statement of a bulk load.
const manyRows = 50

var background = context.Background()

func main() {
	kind, input := os.Args[1], mapped(os.Args[2])
	// As the runner has it, although nothing is synced in memory: the driver's own default is NORMAL.
	conn := must(must(sql.Open("sqlite3", ":memory:?_synchronous=FULL")).Conn(background))
	for _, text := range os.Args[3:] {
		must(conn.ExecContext(background, text))
	}
	switch kind {
	case "statements":
		timed(func() { statements(conn, input) })
	case "rows":
		timed(func() { insert(conn, input, 1) })
	case "bulk":
		timed(func() { insert(conn, input, manyRows) })
		timed(func() {
			check(conn.QueryRowContext(background, "SELECT count(*) FROM r WHERE a1 <> b2").Scan(new(int)))
		})
	case "mix":
		find := must(conn.PrepareContext(background, "SELECT n, s FROM t WHERE id = ?"))
		timed(func() { lookUp(find, input) })
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// mapped is a file outside of Go's heap, as in the runner: a large heap would let the collector work less often.
func mapped(path string) string {
	file := must(os.Open(path))
	size := int(must(file.Stat()).Size())
	bytes := must(syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE))
	return unsafe.String(unsafe.SliceData(bytes), size)
}

// timed does work and prints what it took.
func timed(work func()) {
	runtime.GC()
	before, began := spent(), time.Now()
	work()
	fmt.Printf("%d\n%d\n", time.Since(began), spent()-before)
}

// spent is the processor's time of this process so far.
func spent() int64 {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

func statements(conn *sql.Conn, input string) {
	type row struct {
		number int64
		text   string
	}
	var kept []row
	for text, rest, found := strings.Cut(input, "\x00"); found; text, rest, found = strings.Cut(rest, "\x00") {
		if !strings.HasPrefix(text, "SELECT") {
			must(conn.ExecContext(background, text))
			continue
		}
		rows := must(conn.QueryContext(background, text))
		for rows.Next() {
			kept = append(kept, row{})
			check(rows.Scan(&kept[len(kept)-1].number, &kept[len(kept)-1].text))
		}
		check(rows.Err())
		check(rows.Close())
	}
	runtime.KeepAlive(kept)
}

// insert inserts all rows in one transaction, some by each statement.
func insert(conn *sql.Conn, input string, rows int) {
	text := "INSERT INTO r (a1, b2, c3) VALUES (?, ?, ?)" + strings.Repeat(", (?, ?, ?)", rows-1)
	statement := must(conn.PrepareContext(background, text))
	must(conn.ExecContext(background, "BEGIN"))
	values := make([]any, rows*rowBytes/cellBytes)
	for at := 0; at < len(input); {
		for place := range values {
			values[place] = input[at : at+cellBytes]
			at += cellBytes
		}
		must(statement.ExecContext(background, values...))
	}
	must(conn.ExecContext(background, "COMMIT"))
}

// lookUp reads all rows of each number, and keeps when its answer was there and when the one before was.
func lookUp(find *sql.Stmt, input string) {
	type times struct{ free, ended time.Duration }
	began, all := time.Now(), make([]times, len(input)/stepBytes)
	number, text, free := int64(0), "", time.Since(began)
	for place := range all {
		step := []byte(input[place*stepBytes+numberAt : (place+1)*stepBytes])
		rows := must(find.QueryContext(background, int64(binary.LittleEndian.Uint64(step))))
		for rows.Next() {
			check(rows.Scan(&number, &text))
		}
		check(rows.Err())
		check(rows.Close())
		ended := time.Since(began)
		all[place], free = times{free, ended}, ended
	}
	if text == "" {
		panic("nothing was found")
	}
	runtime.KeepAlive(all)
}
