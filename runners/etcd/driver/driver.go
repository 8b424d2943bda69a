// Package driver reaches etcd by its own client in Go. A store is a prefix of the keys: its name and a zero byte.
package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const module = "go.etcd.io/etcd/client/v3"

// largestRequest is how large a transaction may become, in bytes, before it is committed: engines/etcd.toml starts the
// servers with a limit that is a little larger.
const largestRequest = 8 << 20

// dialTimeout is how long the first answer of the cluster may take.
const dialTimeout = 30 * time.Second

// unled says what a trial cannot begin with.
const unled = "the first node of etcd does not become the leader"

// leaderPause is the time between questions of who leads.
const leaderPause = 20 * time.Millisecond

// Database is a cluster, as reached at its first node.
type Database struct {
	client *clientv3.Client
	// endpoints are those of all nodes, the first one first.
	endpoints []string
	// reads are the options of every read.
	reads []clientv3.OpOption
	// prefix is that of the open store.
	prefix string
}

// Open empties the cluster, which is the run's own, and makes the first node its leader: there clients work.
func Open(job *protocol.Job) (runner.Driver, *protocol.Hello, error) {
	if err := runner.NoVariants(job); err != nil {
		return nil, nil, err
	}
	server, err := runner.ServerOf(job)
	if err != nil {
		return nil, nil, err
	}
	d := &Database{}
	for _, socket := range append([]string{server.Host}, server.Further...) {
		d.endpoints = append(d.endpoints, "unix://"+socket)
	}
	if d.client, err = connect(d.endpoints[0]); err != nil {
		return nil, nil, err
	}
	hello, err := d.begin(job)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return d, hello, nil
}

func connect(endpoint string) (*clientv3.Client, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{endpoint},
		DialTimeout: dialTimeout,
		// Its own limit is below that of the servers.
		MaxCallSendMsgSize: 2 * largestRequest,
		Logger:             zap.NewNop(),
	})
	return client, runner.Place("cannot make a client of etcd", err)
}

func (d *Database) begin(job *protocol.Job) (*protocol.Hello, error) {
	settings, err := parseSettings(job)
	if err != nil {
		return nil, err
	}
	if settings.reads == serializable {
		d.reads = append(d.reads, clientv3.WithSerializable())
	}
	soon, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	status, err := d.lead(soon)
	if err != nil {
		return nil, err
	}
	// Where another process of the trial has left its pairs, they are what is asked for.
	if !job.AnswersOnly {
		if err := d.empty(); err != nil {
			return nil, fmt.Errorf("cannot empty etcd: %w", err)
		}
	}
	inForce, err := settings.inForce(job, d)
	if err != nil {
		return nil, err
	}
	return &protocol.Hello{EngineVersion: status.Version, DriverVersion: runner.ModuleVersion(module), Settings: inForce}, nil
}

// lead makes the first node the leader, where it is not, and returns its status: else each request would take one more
// way, in some runs and not in others. During an election there may be no leader to ask.
func (d *Database) lead(ctx context.Context) (*clientv3.StatusResponse, error) {
	var refused error
	for answered := false; ; answered = true {
		first, err := d.client.Status(ctx, d.endpoints[0])
		if err != nil && answered {
			return nil, runner.Place(unled, errors.Join(err, refused))
		}
		if err != nil {
			return nil, fmt.Errorf("etcd does not answer: %w", err)
		}
		if first.Leader == first.Header.MemberId {
			return first, nil
		}
		refused = d.handOver(ctx, first.Header.MemberId)
		select {
		case <-ctx.Done():
			return nil, runner.Place(unled, errors.Join(ctx.Err(), refused))
		case <-time.After(leaderPause):
		}
	}
}

// handOver asks the node that leads to let another one lead.
func (d *Database) handOver(ctx context.Context, id uint64) error {
	for place := range d.endpoints {
		status, err := d.client.Status(ctx, d.endpoints[place])
		if err != nil {
			return fmt.Errorf("node %d of etcd does not answer: %w", place+1, err)
		}
		if status.Header.MemberId != status.Leader {
			continue
		}
		leader, err := connect(d.endpoints[place])
		if err != nil {
			return err
		}
		_, err = leader.MoveLeader(ctx, id)
		return errors.Join(err, leader.Close())
	}
	return nil
}

// empty removes all keys and their history, and the room that they took, so that every trial begins with the same.
func (d *Database) empty() error {
	ctx := context.Background()
	deleted, err := d.client.Delete(ctx, "\x00", clientv3.WithFromKey())
	if err != nil {
		return err
	}
	// A fresh cluster is at its first revision, which a deletion of nothing does not change. Any other has a history, and a
	// file that may be large, also where no key is left.
	if deleted.Header.Revision == 1 {
		return nil
	}
	if err := d.Settle(nil); err != nil {
		return err
	}
	return d.defragment()
}

// Settle removes old revisions, and waits until the first node has: https://etcd.io/docs/latest/op-guide/maintenance/. It
// also has the node write out what it holds back for its next batch. Defragmentation is not a part of it: that gives back
// free space within the file, as VACUUM does elsewhere.
func (d *Database) Settle([]protocol.Store) error {
	ctx := context.Background()
	now, err := d.client.Get(ctx, "\x00")
	if err != nil {
		return err
	}
	if _, err := d.client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical()); err != nil && !isCompacted(err) {
		return err
	}
	return nil
}

// defragment gives back the room of what was removed. A node answers nothing meanwhile.
func (d *Database) defragment() error {
	for _, endpoint := range d.endpoints {
		if _, err := d.client.Defragment(context.Background(), endpoint); err != nil {
			return err
		}
	}
	return nil
}

// DatabaseBytes is the size of the first node's database.
func (d *Database) DatabaseBytes() (int64, error) {
	status, err := d.client.Status(context.Background(), d.endpoints[0])
	if err != nil {
		return 0, err
	}
	return status.DbSize, nil
}

func (d *Database) Close() error { return d.client.Close() }
