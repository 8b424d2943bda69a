package driver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// startNode starts a node of rqlite with these options, alone and in the network of this process, and returns a job that
// works on it. To enter even that takes root.
func startNode(t *testing.T, options ...string) *protocol.Job {
	program := filepath.Join(os.Getenv("DYNO_PROGRAMS"), "rqlited")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("there is no %s: `make build-clusters` makes it, and DYNO_PROGRAMS names its folder", program)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may enter a network")
	}
	ports := freePorts(t, 2)
	arguments := append(options, fmt.Sprintf("--http-addr=127.0.0.1:%d", ports[0]),
		fmt.Sprintf("--raft-addr=127.0.0.1:%d", ports[1]), t.TempDir())
	node := exec.Command(program, arguments...)
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
	})
	for range 500 {
		if connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ports[0])); err == nil {
			connection.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	network := map[string]string{"network": fmt.Sprintf("/proc/%d/ns/net", node.Process.Pid)}
	server := &protocol.Server{Host: "127.0.0.1", Port: uint16(ports[0]), Process: node.Process.Pid, Options: network}
	readBack := []protocol.Query{{Name: queuedName}, {Name: readsName}, {Name: "raft_snap"}}
	return &protocol.Job{Engine: "rqlite", Driver: "go", ReadBack: readBack, Server: server}
}

func freePorts(t *testing.T, count int) (ports []int) {
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func open(t *testing.T, job *protocol.Job, key string) (*Database, *protocol.Hello) {
	driver, hello, err := Open(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = driver.Close() })
	database := driver.(*Database)
	if err := database.OpenStore(&protocol.Store{Name: "s", Key: key}); err != nil {
		t.Fatal(err)
	}
	return database, hello
}

func in(hello *protocol.Hello, name, value string) bool {
	return slices.Contains(hello.Settings, protocol.Setting{Name: name, Value: value})
}

func TestWhetherWritesAreQueuedIsSeen(t *testing.T) {
	job := startNode(t, "--raft-snap=5000")
	job.Settings = []protocol.Setting{{Name: "raft_snap", Value: "5000"}}
	_, hello := open(t, job, "integer")
	if !in(hello, queuedName, "false") || !in(hello, readsName, weak) || !in(hello, "raft_snap", "5000") {
		t.Error(hello.Settings)
	}
	job.Settings = []protocol.Setting{{Name: queuedName, Value: "true"}}
	database, hello := open(t, job, "integer")
	if !in(hello, queuedName, "true") {
		t.Error(hello.Settings)
	}
	if _, err := database.Session(0); err == nil {
		t.Error("clients of a mix work with queued writes")
	}
	// The server has no such option, whatever the job asks for.
	job.Settings = []protocol.Setting{{Name: "no_such", Value: "1"}}
	if _, _, err := Open(job); err == nil {
		t.Error("a setting that the server does not have is in force")
	}
}

func TestATransactionFailsWhereAnotherHasChangedWhatItRead(t *testing.T) {
	database, _ := open(t, startNode(t), "integer")
	begin := func(read func(c *client) error) *client {
		session, err := database.Session(0)
		if err != nil {
			t.Fatal(err)
		}
		c := session.(*client)
		mix := &protocol.Mix{Store: &protocol.Store{Name: "s", Key: "integer"}}
		if err := errors.Join(c.Prepare(mix), c.Begin(protocol.Write), read(c)); err != nil {
			t.Fatal(err)
		}
		c.puts = append(c.puts, putOf(c, 1000, "own"))
		return c
	}
	var answer runner.Answer
	one := func(c *client) error { return c.read(statement{Query: c.store.get, Arguments: []any{1}}, &answer) }
	some := func(c *client) error { return c.read(statement{Query: c.store.visit, Arguments: []any{1, 2}}, &answer) }
	outside := begin(func(*client) error { return nil })
	put := func(key int, value string) {
		if err := outside.write([]statement{putOf(outside, key, value)}); err != nil {
			t.Fatal(err)
		}
	}
	for name, read := range map[string]func(*client) error{"a key": one, "a range": some} {
		put(1, "before")
		put(2, "")
		alone := begin(read)
		if err := alone.Commit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		disturbed := begin(read)
		put(1, name)
		if err := disturbed.Commit(); !disturbed.MayPass(err) {
			t.Errorf("%s was changed, and the commit says %v", name, err)
		}
	}
	// Of a key that is not there, that is what was read.
	missing := begin(func(c *client) error { return c.read(statement{Query: c.store.get, Arguments: []any{7}}, &answer) })
	put(7, "")
	if err := missing.Commit(); !missing.MayPass(err) {
		t.Errorf("a key came, and the commit says %v", err)
	}
	if err := begin(one).write([]statement{{Query: "no SQL"}}); err == nil || outside.MayPass(err) {
		t.Errorf("an error of another kind may pass: %v", err)
	}
}

func putOf(c *client, key int, value string) statement {
	return statement{Query: c.store.put, Arguments: []any{key, blob([]byte(value))}}
}

func TestAScanGoesOverItsPages(t *testing.T) {
	const count = pageOf + 1
	job := startNode(t)
	for _, key := range []string{"integer", "blob"} {
		database, _ := open(t, job, key)
		var all []statement
		for place := range count {
			// Numbers with more digits than one of floating point has.
			number := []byte{0x7f, 0xff, 0xff, 0, 0, 0, byte(place >> 8), byte(place)}
			all = append(all, statement{Query: database.store.insert, Arguments: []any{database.store.key(number), blob(number)}})
		}
		if err := database.write(all); err != nil {
			t.Fatal(err)
		}
		var last []byte
		seen := 0
		err := database.ScanPairs(func(key, value []byte) {
			if bytes.Compare(key, last) <= 0 || !bytes.Equal(key, value) {
				t.Fatalf("%x with %x comes after %x", key, value, last)
			}
			seen, last = seen+1, bytes.Clone(key)
		})
		if err != nil || seen != count {
			t.Errorf("%d of %d pairs: %v", seen, count, err)
		}
		if value, err := database.Value(last); err != nil || !bytes.Equal(value, last) {
			t.Errorf("%x, %v", value, err)
		}
		if value, err := database.Value(make([]byte, 8)); err != nil || value != nil {
			t.Errorf("%x, %v", value, err)
		}
	}
}

func TestAnEmptyValueIsOneThatIsThere(t *testing.T) {
	database, _ := open(t, startNode(t), "blob")
	if err := database.write([]statement{{Query: database.store.insert, Arguments: []any{blob([]byte("k")), blob(nil)}}}); err != nil {
		t.Fatal(err)
	}
	if value, err := database.Value([]byte("k")); err != nil || value == nil || len(value) > 0 {
		t.Errorf("%x, %v", value, err)
	}
}
