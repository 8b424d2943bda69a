package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/rqlite/gorqlite"
)

// The settings that are not options of the server by their names, and the usual value of the first.
const (
	readsName  = "reads"
	queuedName = "queued"
	weak       = "weak"
)

// optionsPage lists the options of rqlited.
const optionsPage = "https://rqlite.io/docs/guides/config/"

// settings are those of a job.
type settings struct {
	reads  string
	queued bool
}

func parseSettings(job *protocol.Job) (*settings, error) {
	s := &settings{reads: weak}
	for _, setting := range job.Settings {
		switch setting.Name {
		case readsName:
			if _, err := gorqlite.ParseConsistencyLevel(setting.Value); err != nil {
				return nil, fmt.Errorf("the setting '%s' takes none, weak, linearizable or strong, not '%s'", readsName, setting.Value)
			}
			s.reads = setting.Value
		case queuedName:
			queued, err := strconv.ParseBool(setting.Value)
			if err != nil {
				return nil, fmt.Errorf("the setting '%s' is true or false, not '%s'", queuedName, setting.Value)
			}
			s.queued = queued
		}
	}
	return s, nil
}

// inForce reports the settings asked for and those to read back. Whether writes go through the queue is seen by its counter,
// and some options are in what the first node reports.
func (s *settings) inForce(job *protocol.Job, d *Database, first *status) ([]protocol.Setting, error) {
	queued, err := d.queues()
	if err != nil {
		return nil, fmt.Errorf("cannot read back whether rqlite queues writes: %w", err)
	}
	queue, found := first.HTTP.Queue["_default"]
	if !found {
		return nil, errors.New("rqlite reports no queue of writes")
	}
	known := []protocol.Setting{
		{Name: readsName, Value: s.reads}, {Name: queuedName, Value: strconv.FormatBool(queued)},
		{Name: "raft_snap", Value: strconv.FormatInt(first.Store.SnapshotThreshold, 10)},
		{Name: "write_queue_capacity", Value: strconv.Itoa(queue.MaxSize)},
		{Name: "write_queue_batch_size", Value: strconv.Itoa(queue.BatchSize)},
		{Name: "write_queue_timeout", Value: queue.Timeout},
	}
	return runner.StartedWith(job, known, optionsPage)
}

// queues makes a write as all others are made, and says whether the server has queued it.
func (d *Database) queues() (bool, error) {
	before, err := d.executedByQueue()
	if err != nil {
		return false, err
	}
	if err := d.write([]gorqlite.ParameterizedStatement{{Query: "DROP TABLE IF EXISTS dyno_queued"}}); err != nil {
		return false, err
	}
	if err := d.drain(); err != nil {
		return false, err
	}
	after, err := d.executedByQueue()
	return after > before, err
}

// executedByQueue is how many statements the first node's queue has taken.
func (d *Database) executedByQueue() (int64, error) {
	text, err := d.ask(http.MethodGet, d.nodes[0]+"/debug/vars?key=http", "")
	if err != nil {
		return 0, err
	}
	var counters struct {
		HTTP map[string]int64
	}
	if err := json.Unmarshal(text, &counters); err != nil {
		return 0, err
	}
	count, found := counters.HTTP["queued_executions_num_stmts_rx"]
	if !found {
		return 0, fmt.Errorf("its counters have no queued_executions_num_stmts_rx: %s", text)
	}
	return count, nil
}
