package driver

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dyno/runners/go/internal/protocol"
	"dyno/runners/go/internal/runner"
)

// The settings that are not options of the server by their names, and the values of the first.
const (
	readsName    = "reads"
	noFsyncName  = "unsafe_no_fsync"
	linearizable = "linearizable"
	serializable = "serializable"
)

// optionsPage lists the options of etcd.
const optionsPage = "https://etcd.io/docs/latest/op-guide/configuration/"

// syncs is the server's count of syncs of its log, of those that it did.
const syncs = "etcd_disk_wal_fsync_duration_seconds_count"

// Puts by which a sync of the log is looked for: the most and, where unsafe_no_fsync=true rules a sync out, the fewest; and
// the pause after each.
const (
	mostPuts   = 100
	fewestPuts = 10
	putPause   = 10 * time.Millisecond
)

// settings are those of a job.
type settings struct {
	reads   string
	noFsync bool
}

func parseSettings(job *protocol.Job) (*settings, error) {
	s := &settings{reads: linearizable}
	for _, setting := range job.Settings {
		switch setting.Name {
		case readsName:
			if setting.Value != linearizable && setting.Value != serializable {
				return nil, fmt.Errorf("the setting '%s' is %s or %s, not '%s'", readsName, linearizable, serializable, setting.Value)
			}
			s.reads = setting.Value
		case noFsyncName:
			on, err := strconv.ParseBool(setting.Value)
			if err != nil {
				return nil, fmt.Errorf("the setting '%s' is true or false, not '%s'", noFsyncName, setting.Value)
			}
			s.noFsync = on
		}
	}
	return s, nil
}

// inForce reports the settings asked for and those to read back. Whether etcd syncs its log is seen by its counter.
func (s *settings) inForce(job *protocol.Job, d *Database) ([]protocol.Setting, error) {
	synced, err := s.isSynced(d)
	if err != nil {
		return nil, fmt.Errorf("cannot read back whether etcd syncs its log: %w", err)
	}
	known := []protocol.Setting{{Name: readsName, Value: s.reads}, {Name: noFsyncName, Value: strconv.FormatBool(!synced)}}
	return runner.StartedWith(job, known, optionsPage)
}

// isSynced puts a key until the first node has synced its log once more. A commit does not wait for one certain node, so
// that may be a moment later.
func (s *settings) isSynced(d *Database) (bool, error) {
	before, err := d.synced()
	if err != nil {
		return false, err
	}
	puts := mostPuts
	if s.noFsync {
		puts = fewestPuts
	}
	for range puts {
		if _, err := d.client.Put(context.Background(), "\x00dyno", ""); err != nil {
			return false, err
		}
		after, err := d.synced()
		if err != nil || after > before {
			return true, err
		}
		time.Sleep(putPause)
	}
	return false, nil
}

// synced is how often the first node has synced its log.
func (d *Database) synced() (count float64, err error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", strings.TrimPrefix(d.endpoints[0], "unix://"))
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: dialTimeout}
	answer, err := client.Get("http://etcd/metrics")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), syncs+" "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("its metrics (%s) have no %s", answer.Status, syncs)
}
