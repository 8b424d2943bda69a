package driver

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"dyno/runners/go/internal/protocol"

	"golang.org/x/sys/unix"
)

// first is the host in the URL of a first node that is reached by a socket of the file system, behind dyno's proxy.
const first = "first"

// urlOf is the URL of a node at a host.
func urlOf(host string, port uint16) string {
	if strings.HasPrefix(host, "/") {
		host = first
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// dialer is how connections to nodes are made: by the socket, or in the network of the first node, which a file stands for.
func dialer(server *protocol.Server) func(ctx context.Context, network, address string) (net.Conn, error) {
	var plain net.Dialer
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasPrefix(address, first+":") {
			return plain.DialContext(ctx, "unix", server.Host)
		}
		return within(server.Options["network"], func() (net.Conn, error) { return plain.DialContext(ctx, network, address) })
	}
}

// within connects from a network namespace. rqlite listens on TCP alone, and each node of dyno's is in a namespace that no
// other process reaches. A socket stays in the one in which it was made, so that a connection then takes no other way than
// that of a program on the node's machine.
func within(namespace string, connect func() (net.Conn, error)) (net.Conn, error) {
	runtime.LockOSThread()
	isBack := true
	// A thread that has not come back stays locked, and ends with its goroutine.
	defer func() {
		if isBack {
			runtime.UnlockOSThread()
		}
	}()
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer own.Close()
	its, err := os.Open(namespace)
	if err != nil {
		return nil, err
	}
	defer its.Close()
	if err := unix.Setns(int(its.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("cannot enter the network of a node, as root can: %w", err)
	}
	connection, err := connect()
	isBack = unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil
	return connection, err
}
