package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dyno/runners/go/internal/protocol"
)

// clientArgument is the argument with which this program is a client of another process of it.
const clientArgument = "client"

// processNotice is how long before they begin client processes receive the order to.
const processNotice = 20 * time.Millisecond

// clientJob is what a client process does: its part of a mix, as JSON on its standard input. After it comes the moment
// when it begins, as the system's monotonic clock has it.
type clientJob struct {
	// Job is the trial's job, Test the mix by its id.
	Job  json.RawMessage
	Test string
	// Place is the client's, counted from zero.
	Place int
	// Shares says whether all have a part in one file of steps. Then the file sharedFile is a number in memory: the next.
	Shares bool
}

// sharedFile is the number by which a client process has the file that all share: the first after the usual three.
const sharedFile = 3

// said is what a client process says on standard output: that it is ready, what it has done, that it has closed the
// database, or why it failed. One that is done keeps its connection until its input ends: a server's costs are read
// before, and those of a connection that has ended are known to the tick only.
type said struct {
	Ready  bool
	Done   *protocol.Sample
	Closed bool
	Failed string
}

// heard is what is heard of a client: nil where nothing more comes.
type heard struct {
	place int
	said  *said
}

// saysAtMost is how often something is heard of a client: that it is ready, that it is done, that it has closed the
// database, and that nothing more comes.
const saysAtMost = 4

// processes are client processes.
type processes struct {
	list  []*clientProcess
	heard chan heard
}

type clientProcess struct {
	command *exec.Cmd
	input   io.WriteCloser
	// closed says that it has reported that it has closed the database.
	closed bool
}

// byProcesses lets each client work as a process of its own: this program once more, with a driver of its own on the same
// database. It lets all of them go at once, and adds up what they report.
func (w *mixWork) byProcesses(t *trial) (sample protocol.Sample, all []counts, err error) {
	count := w.mix.Clients
	clients := &processes{heard: make(chan heard, saysAtMost*count)}
	defer clients.kill()
	var shared *os.File
	if w.shares() {
		if shared, err = sharedNumber(); err != nil {
			return sample, nil, err
		}
		defer shared.Close()
	}
	// A client ends with the thread that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for place := range count {
		if err := clients.start(clientJob{t.job.Text, t.current, place, shared != nil}, shared); err != nil {
			return sample, nil, err
		}
	}
	for range count {
		if said, err := clients.next(nil); err != nil {
			return sample, nil, err
		} else if !said.Ready {
			return sample, nil, errors.New("a client was done before it had begun: this is an error in the runner")
		}
	}
	runtime.GC()
	t.clock.count(w.window.from > 0)
	began, moment := momentIn(processNotice), monotonic()+processNotice.Nanoseconds()
	for place := range clients.list {
		if err := clients.tell(place, moment); err != nil {
			return sample, nil, err
		}
	}
	began.sleep(w.window.from)
	var parts []*protocol.Sample
	sample, err = t.clock.clients(func() error {
		var isOver <-chan time.Time
		if w.window.until != unlimited {
			isOver = time.After(time.Duration(w.window.until - began.since()))
		}
		if parts, err = clients.collect(parts, isOver); err == nil && isOver != nil && len(parts) == count {
			// Clients whose steps came to an end before their time leave the rest of it empty.
			<-isOver
		}
		return err
	})
	if err == nil {
		parts, err = clients.collect(parts, nil)
	}
	if err == nil {
		err = clients.end()
	}
	if err == nil {
		all, err = w.join(parts, &sample.Section)
	}
	return sample, all, err
}

// join adds what clients did and spent.
func (w *mixWork) join(parts []*protocol.Sample, section *protocol.Section) ([]counts, error) {
	all := make([]counts, len(w.names))
	section.Nanoseconds = 0
	for _, part := range parts {
		section.Client.Add(part.Section.Client)
		section.Nanoseconds = max(section.Nanoseconds, part.Section.Nanoseconds)
		if len(part.Classes) != len(all) || len(part.Ticks) != len(w.board.ticks) {
			return nil, errors.New("a client tells of other classes or seconds than there are: this is an error in the runner")
		}
		for class := range all {
			if err := all[class].join(part.Classes[class]); err != nil {
				return nil, err
			}
		}
		for place, told := range part.Ticks {
			if err := w.board.ticks[place].join(told); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// start starts a client and gives it its job.
func (p *processes) start(job clientJob, shared *os.File) error {
	// The program itself, though it may have been replaced meanwhile.
	command := exec.Command("/proc/self/exe", clientArgument)
	command.Args[0], command.Stderr = os.Args[0], os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if shared != nil {
		command.ExtraFiles = []*os.File{shared}
	}
	input, err := command.StdinPipe()
	if err != nil {
		return Place("cannot start a process for a client", err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return Place("cannot start a process for a client", err)
	}
	if err := command.Start(); err != nil {
		return Place("cannot start a process for a client", err)
	}
	place := len(p.list)
	p.list = append(p.list, &clientProcess{command: command, input: input})
	go func() {
		for lines := json.NewDecoder(output); ; {
			said := &said{}
			if lines.Decode(said) != nil {
				p.heard <- heard{place, nil}
				return
			}
			p.heard <- heard{place, said}
		}
	}()
	return p.tell(place, job)
}

// tell sends a client a message.
func (p *processes) tell(place int, what any) error {
	if err := json.NewEncoder(p.list[place].input).Encode(what); err != nil {
		return p.lost(place)
	}
	return nil
}

// next is what the next client says; nil where the time is up first. A client that has failed, or has ended before it
// was done, is an error.
func (p *processes) next(isOver <-chan time.Time) (*said, error) {
	for {
		var one heard
		select {
		case one = <-p.heard:
		case <-isOver:
			return nil, nil
		}
		client := p.list[one.place]
		switch {
		case one.said == nil && client.closed:
			// It has nothing more to say.
		case one.said == nil:
			return nil, p.lost(one.place)
		case one.said.Failed != "":
			return nil, errors.New(one.said.Failed)
		default:
			client.closed = one.said.Closed
			return one.said, nil
		}
	}
}

// collect adds what clients have done, until all have reported it or the time is up.
func (p *processes) collect(parts []*protocol.Sample, isOver <-chan time.Time) ([]*protocol.Sample, error) {
	for len(parts) < len(p.list) {
		said, err := p.next(isOver)
		switch {
		case err != nil:
			return parts, err
		case said == nil:
			return parts, nil
		case said.Done == nil:
			return parts, errors.New("a client said twice that it is ready: this is an error in the runner")
		}
		parts = append(parts, said.Done)
	}
	return parts, nil
}

// lost is why a client has ended that should be at work.
func (p *processes) lost(place int) error {
	_ = p.list[place].command.Wait()
	how := "it has ended"
	if state := p.list[place].command.ProcessState; state != nil {
		how = fmt.Sprintf("it ended with exit code %d", state.ExitCode())
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			how = "it was killed by " + unix.SignalName(status.Signal())
		}
	}
	return fmt.Errorf("client %d of %d, a process of its own, is gone in the middle of its work: %s", place+1, len(p.list), how)
}

// end lets all clients, which are done, close the database, and waits until they have ended.
func (p *processes) end() error {
	for _, client := range p.list {
		_ = client.input.Close()
	}
	for range p.list {
		if said, err := p.next(nil); err != nil {
			return err
		} else if !said.Closed {
			return errors.New("a client said twice that it is done: this is an error in the runner")
		}
	}
	for place, client := range p.list {
		if err := client.command.Wait(); err != nil {
			return fmt.Errorf("client %d was done and then did not end well: %w", place+1, err)
		}
	}
	return nil
}

// kill ends those that have not ended.
func (p *processes) kill() {
	for _, client := range p.list {
		if client.command.ProcessState == nil {
			_ = client.command.Process.Kill()
			_ = client.command.Wait()
		}
	}
}

// sharedNumber is a number in memory that clients inherit: 0.
func sharedNumber() (*os.File, error) {
	memory, err := unix.MemfdCreate("next step", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot share memory with clients: %w", err)
	}
	file := os.NewFile(uintptr(memory), "next step")
	if err := file.Truncate(int64(unsafe.Sizeof(atomic.Int64{}))); err != nil {
		file.Close()
		return nil, fmt.Errorf("cannot share memory with clients: %w", err)
	}
	return file, nil
}
