// Package driver reaches rqlite by its own client in Go, gorqlite. A store is a table of keys and values.
package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"

	"github.com/rqlite/gorqlite"
)

const module = "github.com/rqlite/gorqlite"

// largestRequest is how large a transaction may become, in bytes, before it is committed: rqlite says no limit, and a
// request is in memory as a whole.
const largestRequest = 8 << 20

// answerTimeout is how long an answer may take, and the cluster until the first node leads it.
const answerTimeout = 60 * time.Second

// leadPause is the pause between looks whether the first node leads.
const leadPause = 20 * time.Millisecond

// Database is a cluster, as reached at its first node.
type Database struct {
	client *http.Client
	conn   *gorqlite.Connection
	// nodes are the URLs of all nodes, the first one first.
	nodes []string
	// queued says whether writes are acknowledged when they are in the node's queue.
	queued bool
	// store is the open store.
	store *store
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
	settings, err := parseSettings(job)
	if err != nil {
		return nil, nil, err
	}
	// The client's own pool keeps two idle connections, and each of a mix's clients is to keep one.
	transport := &http.Transport{DialContext: dialer(server), MaxIdleConnsPerHost: math.MaxInt}
	d := &Database{client: &http.Client{Transport: transport, Timeout: answerTimeout}, queued: settings.queued}
	for _, host := range append([]string{server.Host}, server.Further...) {
		d.nodes = append(d.nodes, urlOf(host, server.Port))
	}
	// Clients work with the first node, also where another one leads meanwhile.
	d.conn, err = gorqlite.OpenWithClient(d.nodes[0]+"/?disableClusterDiscovery=true&level="+settings.reads, d.client)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a client of rqlite: %w", err)
	}
	hello, err := d.begin(job, settings)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return d, hello, nil
}

func (d *Database) begin(job *protocol.Job, settings *settings) (*protocol.Hello, error) {
	first, err := d.lead()
	if err != nil {
		return nil, err
	}
	// Where another process of the trial has left its pairs, they are what is asked for.
	if !job.AnswersOnly {
		if err := d.empty(); err != nil {
			return nil, fmt.Errorf("cannot empty rqlite: %w", err)
		}
	}
	inForce, err := settings.inForce(job, d, first)
	if err != nil {
		return nil, err
	}
	return &protocol.Hello{EngineVersion: first.Build.Version, DriverVersion: runner.ModuleVersion(module), Settings: inForce}, nil
}

// status is what is looked at of what a node reports.
type status struct {
	Build struct{ Version string }
	Store struct {
		NodeID string `json:"node_id"`
		Leader struct {
			NodeID string `json:"node_id"`
		}
		SnapshotThreshold int64 `json:"snapshot_threshold"`
	}
	HTTP struct {
		Queue map[string]struct {
			MaxSize   int    `json:"max_size"`
			BatchSize int    `json:"batch_size"`
			Timeout   string `json:"timeout"`
		}
	}
}

// lead makes the first node the leader, where it is not: else each request would take one more way, in some runs and not
// in others. It returns what that node reports.
func (d *Database) lead() (*status, error) {
	var refused error
	for begin := time.Now(); time.Since(begin) < answerTimeout; time.Sleep(leadPause) {
		var first status
		text, err := d.ask(http.MethodGet, d.nodes[0]+"/status", "")
		if err == nil {
			err = json.Unmarshal(text, &first)
		}
		if err != nil {
			return nil, fmt.Errorf("rqlite does not answer: %w", err)
		}
		switch first.Store.Leader.NodeID {
		case "":
			// An election is under way.
		case first.Store.NodeID:
			return &first, nil
		default:
			// The node hands the request on to the leader. It may have been replaced meanwhile.
			_, refused = d.ask(http.MethodPost, d.nodes[0]+"/leader?wait", fmt.Sprintf(`{"id": %q}`, first.Store.NodeID))
		}
	}
	return nil, runner.Place("the first node of rqlite does not become the leader", errors.Join(refused, context.DeadlineExceeded))
}

// ask sends a request that is none of the client's, and returns the answer.
func (d *Database) ask(method, url, body string) ([]byte, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := d.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return text, err
}

// empty removes all tables and gives back their room, so that every trial begins with the same.
func (d *Database) empty() error {
	tables, err := d.conn.QueryOne("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil || tables.NumRows() == 0 {
		return err
	}
	var name string
	for tables.Next() {
		if err := tables.Scan(&name); err != nil {
			return err
		}
		if _, err := d.conn.WriteOne("DROP TABLE " + name); err != nil {
			return err
		}
	}
	if err := d.vacuum(); err != nil {
		return err
	}
	return d.Settle(nil)
}

// vacuum cannot be within a transaction.
func (d *Database) vacuum() error {
	if err := d.conn.SetExecutionWithTransaction(false); err != nil {
		return err
	}
	_, err := d.conn.WriteOne("VACUUM")
	return errors.Join(err, d.conn.SetExecutionWithTransaction(true))
}

// Settle makes each node write its database into a snapshot and shorten its log, as the manual has it:
// https://rqlite.io/docs/guides/performance/. Nothing else is put off by a commit.
func (d *Database) Settle([]protocol.Store) error {
	for _, node := range d.nodes {
		if _, err := d.ask(http.MethodPost, node+"/snapshot", ""); err != nil {
			return fmt.Errorf("%s makes no snapshot: %w", node, err)
		}
	}
	return nil
}

// DatabaseBytes is the size of the first node's SQLite database.
func (d *Database) DatabaseBytes() (int64, error) {
	size, err := d.conn.QueryOne("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
	if err != nil {
		return 0, err
	}
	var bytes int64
	size.Next()
	return bytes, size.Scan(&bytes)
}

// Close closes the connections.
func (d *Database) Close() error {
	d.conn.Close()
	d.client.CloseIdleConnections()
	return nil
}
