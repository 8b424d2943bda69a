package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"dyno/runners/go/internal/protocol"
	"github.com/ebitengine/purego"
)

const (
	// gaugeFile is the library that all runners measure with; crates/gauge/include/dyno_gauge.h describes it.
	gaugeFile = "libdyno_gauge.so"
	// gaugeVersion is the version of its interface that this program was made for.
	gaugeVersion = 4
)

// cost is dyno_gauge_cost.
type cost struct {
	userNS, systemNS, waitNS            uint64
	deviceReadBytes, deviceWrittenBytes uint64
	peakMemoryBytes                     uint64
}

// gauge reads the kernel's counters of this process, and of a server's processes, just outside the clock. The
// library is opened before any clock starts, and its functions are called without cgo.
type gauge struct {
	handle, before, after, early uintptr
	// The library writes to these, so they lie where the collector moves nothing.
	process, server *cost
}

// openGauge opens the counters of this process and of a server by its main process, if that is not 0, and those of the
// other nodes where it is a cluster.
func openGauge(server int, nodes ...int) (*gauge, error) {
	file, err := gaugePath()
	if err != nil {
		return nil, err
	}
	library, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("cannot load %s, with which runners measure (build it by `cargo build --release -p dyno-gauge`): %w", file, err)
	}
	found := map[string]uintptr{}
	for _, name := range []string{"version", "open", "before", "after", "prepare", "add_node"} {
		if found[name], err = purego.Dlsym(library, "dyno_gauge_"+name); err != nil {
			return nil, fmt.Errorf("%s is not dyno's: %w", file, err)
		}
		if name != "version" {
			continue
		}
		// Before the other functions: an older library may lack some.
		if version, _, _ := purego.SyscallN(found[name]); uint32(version) != gaugeVersion {
			return nil, fmt.Errorf("%s has version %d of its interface, and this runner is for %d: build both from the same source",
				file, uint32(version), gaugeVersion)
		}
	}
	handle, _, _ := purego.SyscallN(found["open"], uintptr(server))
	for _, node := range nodes {
		purego.SyscallN(found["add_node"], handle, uintptr(node))
	}
	return &gauge{handle, found["before"], found["after"], found["prepare"], &cost{}, &cost{}}, nil
}

// gaugePath is the library next to this program.
var gaugePath = func() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the runner's own file: %w", err)
	}
	return filepath.Join(filepath.Dir(program), gaugeFile), nil
}

// prepare does what takes long of the next reading before the clock starts.
func (g *gauge) prepare() { purego.SyscallN(g.early, g.handle) }

// begin reads before the clock starts.
func (g *gauge) begin() { purego.SyscallN(g.before, g.handle) }

// end reads after the clock has stopped: all of the section but its duration.
func (g *gauge) end() protocol.Section {
	there, _, _ := purego.SyscallN(g.after, g.handle, uintptr(unsafe.Pointer(g.process)), uintptr(unsafe.Pointer(g.server)))
	section := protocol.Section{Client: g.process.spent()}
	if int32(there) == 1 {
		server := g.server.spent()
		section.Server = &server
	}
	return section
}

// spent returns the cost as the contract has it.
func (c *cost) spent() protocol.Cost {
	return protocol.Cost{
		UserNS:             int64(c.userNS),
		SystemNS:           int64(c.systemNS),
		WaitNS:             int64(c.waitNS),
		DeviceReadBytes:    int64(c.deviceReadBytes),
		DeviceWrittenBytes: int64(c.deviceWrittenBytes),
		PeakMemoryBytes:    int64(c.peakMemoryBytes),
	}
}
