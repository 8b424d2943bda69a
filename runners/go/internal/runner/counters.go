package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// counters are the kernel's counters of this process. The files are opened once and read again in place,
// so that a reading costs little and lies close to the clock. A counter that this system does not give
// reads as zero. Times are nanoseconds.
type counters struct {
	io, status, clearRefs *os.File
}

// reading is what the counters stood at.
type reading struct {
	userNS, systemNS int64
	// waitNS is the time that threads were runnable and waited for a processor.
	waitNS                  int64
	readBytes, writtenBytes int64
}

func openCounters() *counters {
	counters := &counters{}
	counters.io, _ = os.Open("/proc/self/io")
	counters.status, _ = os.Open("/proc/self/status")
	counters.clearRefs, _ = os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	return counters
}

// before reads before the clock starts: what matters most, the wait for a processor, comes last.
func (c *counters) before() reading {
	if c.clearRefs != nil {
		// 5 sets the peak of resident memory back to what is resident now; it touches no page. Where this
		// is not allowed, the peak is that of the whole process so far.
		_, _ = c.clearRefs.WriteAt([]byte("5"), 0)
	}
	reading := c.slow()
	reading.waitNS = waitOf(os.Getpid())
	return reading
}

// after reads after the clock has stopped: the wait for a processor comes first.
func (c *counters) after() reading {
	wait := waitOf(os.Getpid())
	reading := c.slow()
	reading.waitNS = wait
	return reading
}

func (c *counters) slow() reading {
	io := readAgain(c.io)
	reading := reading{readBytes: field(io, "read_bytes:"), writtenBytes: field(io, "write_bytes:")}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		reading.userNS, reading.systemNS = usage.Utime.Nano(), usage.Stime.Nano()
	}
	return reading
}

// peakBytes is the largest resident memory since the last reading before a clock.
func (c *counters) peakBytes() int64 { return field(readAgain(c.status), "VmHWM:") * 1024 }

// waitOf adds up what the threads of a process waited for a processor.
func waitOf(process int) int64 {
	sum := int64(0)
	for _, wait := range waits(process) {
		sum += wait
	}
	return sum
}

// waits is what each thread of a process waited.
func waits(process int) map[string]int64 {
	folder := fmt.Sprintf("/proc/%d/task", process)
	threads, _ := os.ReadDir(folder)
	waits := make(map[string]int64, len(threads))
	for _, thread := range threads {
		text, err := os.ReadFile(folder + "/" + thread.Name() + "/schedstat")
		if err == nil {
			waits[thread.Name()] = schedstatWait(string(text))
		}
	}
	return waits
}

// schedstatWait is the second of the three numbers of a schedstat.
func schedstatWait(text string) int64 {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	wait, _ := strconv.ParseInt(fields[1], 10, 64)
	return wait
}

// readAgain reads a file of /proc from its beginning, which makes the kernel write it anew.
func readAgain(file *os.File) string {
	if file == nil {
		return ""
	}
	buffer := make([]byte, 4096)
	length, _ := file.ReadAt(buffer, 0)
	return string(buffer[:max(length, 0)])
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
