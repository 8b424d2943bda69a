package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"
	"golang.org/x/sys/unix"
)

// tickNS is how long a tick of /proc/PID/stat is: 1/USER_HZ, which is 100 on every Linux that Go has.
const tickNS = 10_000_000

// serverProcess is a server on this machine: its main process and all that descend from it. PostgreSQL
// starts one for each connection and more for a parallel query, so the tree is looked up anew at each
// reading. A process that ends within the test leaves its CPU time and its device bytes to the parent
// that waits for it, so the sum over the tree never falls. What may not be looked at reads as zero.
type serverProcess struct{ main int }

// serverReading is what the counters of all its processes stood at.
type serverReading struct {
	processes               []int
	cpuNS                   int64
	userTicks, systemTicks  int64
	readBytes, writtenBytes int64
	// waits is that of each thread: a thread that ends takes its figure with it.
	waits map[string]int64
}

// stat is what /proc/PID/stat says of a process; CPU times in ticks, ended those of its children that
// have ended.
type stat struct {
	parent                 int
	user, system           int64
	endedUser, endedSystem int64
}

// before reads before the clock starts; nil where there is no such process.
func (s *serverProcess) before() *serverReading {
	if s == nil {
		return nil
	}
	reading := s.read()
	if reading == nil {
		return nil
	}
	for _, process := range reading.processes {
		// Where this is not allowed, the peak is that of the process's whole life.
		_ = os.WriteFile(procPath(process, "clear_refs"), []byte("5"), 0)
	}
	return reading
}

// since is what has been spent since a reading; nil where the process has gone.
func (s *serverProcess) since(before *serverReading) *protocol.ServerCost {
	if before == nil {
		return nil
	}
	after := s.read()
	if after == nil {
		return nil
	}
	cost := &protocol.ServerCost{
		DeviceReadBytes:    since(after.readBytes, before.readBytes),
		DeviceWrittenBytes: since(after.writtenBytes, before.writtenBytes),
	}
	cost.UserNS, cost.SystemNS = split(before, after)
	for thread, wait := range after.waits {
		cost.WaitNS += since(wait, before.waits[thread])
	}
	for _, process := range after.processes {
		status, _ := os.ReadFile(procPath(process, "status"))
		cost.PeakMemoryBytes = max(cost.PeakMemoryBytes, field(string(status), "VmHWM:")*1024)
	}
	return cost
}

// split divides CPU time that is known to the nanosecond into its two kinds, which are known to the tick
// only, as these are.
func split(before, after *serverReading) (user, system int64) {
	cpu := since(after.cpuNS, before.cpuNS)
	userTicks := since(after.userTicks, before.userTicks)
	ticks := userTicks + since(after.systemTicks, before.systemTicks)
	if ticks == 0 {
		return cpu, 0
	}
	user = min(int64(float64(cpu)*float64(userTicks)/float64(ticks)), cpu)
	return user, cpu - user
}

func (s *serverProcess) read() *serverReading {
	stats := allStats()
	if _, found := stats[s.main]; !found {
		return nil
	}
	reading := &serverReading{processes: tree(s.main, stats), waits: map[string]int64{}}
	for _, process := range reading.processes {
		reading.add(process, stats[process])
	}
	return reading
}

func (r *serverReading) add(process int, stat stat) {
	own, known := cpuClock(process)
	if !known {
		own = (stat.user + stat.system) * tickNS
	}
	r.cpuNS += own + (stat.endedUser+stat.endedSystem)*tickNS
	r.userTicks += stat.user + stat.endedUser
	r.systemTicks += stat.system + stat.endedSystem
	io, _ := os.ReadFile(procPath(process, "io"))
	r.readBytes += field(string(io), "read_bytes:")
	r.writtenBytes += field(string(io), "write_bytes:")
	for thread, wait := range waits(process) {
		r.waits[thread] = wait
	}
}

// cpuClock is the CPU time of all threads of a process, ended ones included.
func cpuClock(process int) (int64, bool) {
	// The clock of a process by its number: the kernel's CPUCLOCK_SCHED of clock_getcpuclockid(3).
	clock := int32(^process)<<3 | 2
	var time unix.Timespec
	if unix.ClockGettime(clock, &time) != nil {
		return 0, false
	}
	return time.Nano(), true
}

func procPath(process int, file string) string { return fmt.Sprintf("/proc/%d/%s", process, file) }

func allStats() map[int]stat {
	stats := map[int]stat{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(procPath(process, "stat"))
		if err != nil {
			continue
		}
		if stat, ok := parseStat(string(text)); ok {
			stats[process] = stat
		}
	}
	return stats
}

// tree is a process and its descendants.
func tree(main int, stats map[int]stat) []int {
	found := []int{main}
	for next := 0; next < len(found); next++ {
		for process, stat := range stats {
			if stat.parent == found[next] {
				found = append(found, process)
			}
		}
	}
	return found
}

// parseStat reads `pid (name) state ppid …`; the name may hold spaces and parentheses.
func parseStat(text string) (stat, bool) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return stat{}, false
	}
	number := func(place int) int64 {
		number, _ := strconv.ParseInt(fields[place], 10, 64)
		return number
	}
	return stat{int(number(1)), number(11), number(12), number(13), number(14)}, true
}
