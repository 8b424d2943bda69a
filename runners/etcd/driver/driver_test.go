package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// startNode starts a node of etcd with these options, alone, and returns a job that works on it.
func startNode(t *testing.T, options ...string) *protocol.Job {
	program := filepath.Join(os.Getenv("DYNO_PROGRAMS"), "etcd")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("there is no %s: `make build-clusters` makes it, and DYNO_PROGRAMS names its folder", program)
	}
	// The path of a socket is short.
	folder, err := os.MkdirTemp("", "etcd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	socket := filepath.Join(folder, "s")
	common := []string{"--name=a", "--data-dir=" + filepath.Join(folder, "data"), "--listen-client-urls=unix://" + socket,
		"--advertise-client-urls=http://127.0.0.1:2379", "--listen-peer-urls=http://127.0.0.1:0",
		"--initial-advertise-peer-urls=http://127.0.0.1:1", "--initial-cluster=a=http://127.0.0.1:1", "--log-level=error"}
	node := exec.Command(program, append(common, options...)...)
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = node.Process.Kill()
		_ = node.Wait()
	})
	for range 500 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	readBack := []protocol.Query{{Name: noFsyncName}, {Name: readsName}}
	return &protocol.Job{Engine: "etcd", Driver: "go", ReadBack: readBack, Server: &protocol.Server{Host: socket, Process: node.Process.Pid}}
}

func open(t *testing.T, job *protocol.Job) (*Database, *protocol.Hello) {
	driver, hello, err := Open(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = driver.Close() })
	database := driver.(*Database)
	if err := database.OpenStore(&protocol.Store{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	return database, hello
}

func in(hello *protocol.Hello, name, value string) bool {
	return slices.Contains(hello.Settings, protocol.Setting{Name: name, Value: value})
}

func TestWhetherTheLogIsSyncedIsSeen(t *testing.T) {
	_, hello := open(t, startNode(t))
	if !in(hello, noFsyncName, "false") || !in(hello, readsName, linearizable) {
		t.Error(hello.Settings)
	}
	// A job that asks for syncs does not get them by asking.
	job := startNode(t, "--unsafe-no-fsync=true", "--snapshot-count=5000")
	job.Settings = []protocol.Setting{{Name: noFsyncName, Value: "false"}, {Name: "snapshot_count", Value: "5000"}}
	_, hello = open(t, job)
	if !in(hello, noFsyncName, "true") || !in(hello, "snapshot_count", "5000") {
		t.Error(hello.Settings)
	}
	job.Settings = []protocol.Setting{{Name: "no_such", Value: "1"}}
	if _, _, err := Open(job); err == nil {
		t.Error("a setting that the server does not have is in force")
	}
}

func TestATransactionFailsWhereAnotherHasChangedWhatItRead(t *testing.T) {
	database, _ := open(t, startNode(t))
	begin := func(read func(c *client) error) *client {
		session, err := database.Session(0)
		if err != nil {
			t.Fatal(err)
		}
		c := session.(*client)
		c.prefix, c.end = prefixOf("s"), endOf(prefixOf("s"))
		if err := errors.Join(c.Begin(protocol.Write), read(c), c.put("s\x00own", []byte("1"))); err != nil {
			t.Fatal(err)
		}
		return c
	}
	var answer runner.Answer
	one := func(c *client) error { return c.read("s\x00a", &answer) }
	all := func(c *client) error { return c.read("s\x00a", &answer, clientv3.WithRange(c.end)) }
	outside := begin(func(c *client) error { return nil })
	for name, read := range map[string]func(*client) error{"a key": one, "a range": all} {
		alone := begin(read)
		if err := alone.Commit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		disturbed := begin(read)
		outside.Rollback()
		if err := outside.put("s\x00a", []byte("other")); err != nil {
			t.Fatal(err)
		}
		if err := disturbed.Commit(); !disturbed.MayPass(err) {
			t.Errorf("%s was changed, and the commit says %v", name, err)
		}
	}
}

func TestToSettleRemovesOldRevisionsAndKeepsTheNewest(t *testing.T) {
	database, _ := open(t, startNode(t))
	ctx := context.Background()
	old, err := database.client.Put(ctx, "s\x00a", "old")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.client.Put(ctx, "s\x00a", "new"); err != nil {
		t.Fatal(err)
	}
	// The second time there is nothing to do.
	for range 2 {
		if err := database.Settle(nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := database.client.Get(ctx, "s\x00a", clientv3.WithRev(old.Header.Revision)); !isCompacted(err) {
		t.Errorf("the old revision is there: %v", err)
	}
	if value, err := database.Value([]byte("a")); err != nil || string(value) != "new" {
		t.Errorf("%s, %v", value, err)
	}
}

func TestAScanGoesOverItsPages(t *testing.T) {
	database, _ := open(t, startNode(t, "--max-txn-ops=20000"))
	const count = pageOf + 1
	all := newChanges()
	for place := range count {
		all.add(clientv3.OpPut(fmt.Sprintf("s\x00%06d", place), ""))
	}
	// The last of several changes of a key stays, and another store is no part of this one.
	all.add(clientv3.OpPut("s\x00000000", "again"))
	all.add(clientv3.OpPut("t\x00", ""))
	if err := all.commit(database.client); err != nil {
		t.Fatal(err)
	}
	seen, last := 0, ""
	err := database.ScanPairs(func(key, _ []byte) {
		if string(key) <= last {
			t.Fatalf("%s comes after %s", key, last)
		}
		seen, last = seen+1, string(key)
	})
	if err != nil || seen != count {
		t.Errorf("%d of %d pairs: %v", seen, count, err)
	}
	if value, err := database.Value([]byte("000000")); err != nil || string(value) != "again" {
		t.Errorf("%s, %v", value, err)
	}
	if value, err := database.Value([]byte("none")); err != nil || value != nil {
		t.Errorf("%s, %v", value, err)
	}
}
