package runner

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// pageBytes is what the kernel maps at once.
const pageBytes = 4096

// touched keeps the reading of pages from being left out as useless.
var touched byte

// mapping is a file in memory, outside Go's heap. It is given back when its test has ended well; after a
// failure it stays, because a driver may still look at it.
type mapping []byte

// mapFile maps a file, called what in messages.
func mapFile(path, what string) (mapping, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the %s: %w", what, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot look at the %s %s: %w", what, path, err)
	}
	if info.Size() == 0 {
		return mapping{}, nil
	}
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("cannot map the %s %s: %w", what, path, err)
	}
	return bytes, nil
}

// touch reads every page, so that none is read within the timed section. A file that is larger than half
// of the memory that is free is read ahead only: touching it would drive its own beginning out.
func (m mapping) touch() {
	if len(m) == 0 {
		return
	}
	// Advice that is not taken changes nothing but speed before the clock.
	_ = syscall.Madvise(m, syscall.MADV_WILLNEED)
	meminfo, _ := os.ReadFile("/proc/meminfo")
	if int64(len(m)) >= field(string(meminfo), "MemAvailable:")*1024/2 {
		return
	}
	for place := 0; place < len(m); place += pageBytes {
		touched ^= m[place]
	}
}

func (m mapping) release() {
	if len(m) > 0 {
		_ = syscall.Munmap(m)
	}
}

// Cells are some cells of a mapped flat file, one after another.
type Cells struct {
	bytes []byte
	width int
}

// CellsOf is cells of one width that lie one after another in memory.
func CellsOf(bytes []byte, width int) Cells { return Cells{bytes, width} }

// mapCells maps a file that must hold count cells of width bytes.
func mapCells(path string, count, width int) (Cells, mapping, error) {
	mapped, err := mapFile(path, "input")
	if err != nil {
		return Cells{}, nil, err
	}
	if width <= 0 || count < 0 || count > math.MaxInt/width || len(mapped) != count*width {
		return Cells{}, nil, fmt.Errorf("the input %s has %d bytes where %d cells of %d bytes are promised: it is cut off "+
			"or of another shape", path, len(mapped), count, width)
	}
	mapped.touch()
	return CellsOf(mapped, width), mapped, nil
}

// Len is how many cells there are.
func (c Cells) Len() int { return len(c.bytes) / c.width }

// Get is the cell at a place counted from zero.
func (c Cells) Get(index int) []byte {
	start := index * c.width
	return c.bytes[start : start+c.width : start+c.width]
}

// Bytes is all of them as they lie in memory.
func (c Cells) Bytes() []byte { return c.bytes }

// Slice is some of the cells.
func (c Cells) Slice(from, to int) Cells {
	return Cells{c.bytes[from*c.width : to*c.width], c.width}
}

// String is bytes as a string that shares their memory: for bytes that do not change while it is used.
func String(bytes []byte) string {
	return unsafe.String(unsafe.SliceData(bytes), len(bytes))
}

// field is the number after a name at the beginning of a line; 0 where there is none.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, name); found {
			if fields := strings.Fields(rest); len(fields) > 0 {
				number, _ := strconv.ParseInt(fields[0], 10, 64)
				return number
			}
		}
	}
	return 0
}
