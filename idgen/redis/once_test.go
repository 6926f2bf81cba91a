package redis

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// node is a node of a cluster that returns preset answers to scripts, and counts them.
type node struct {
	listener net.Listener
	slots    func() string               // the answer to CLUSTER SLOTS
	answer   func(command string) string // answer to a script; empty: the connection is closed instead
	serving  sync.WaitGroup

	mu   sync.Mutex // guards what follows
	sent []string
}

func startNode(t *testing.T, answer func(command string) string) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{listener: l, answer: answer}
	n.slots = func() string { return slotsOf(n) }
	n.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.serving.Go(func() { n.serve(c) })
		}
	})
	return n
}

// slotsOf returns the answer that a node has all slots.
func slotsOf(n *node) string {
	host, port, _ := net.SplitHostPort(n.listener.Addr().String())
	return fmt.Sprintf("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$%d\r\n%s\r\n:%s\r\n$1\r\na\r\n", len(host), host, port)
}

func (n *node) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		said := "-ERR unknown command\r\n"
		switch strings.ToLower(words[0]) {
		case "cluster":
			said = n.slots()
		case "asking":
			said = "+OK\r\n"
		case "evalsha", "eval":
			n.mu.Lock()
			n.sent = append(n.sent, strings.ToLower(words[0]))
			n.mu.Unlock()
			if said = n.answer(words[0]); said == "" {
				return
			}
		}
		if _, err := io.WriteString(c, said); err != nil {
			return
		}
	}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	count, err := readLength(r, '*')
	if err != nil {
		return nil, err
	}
	words := make([]string, count)
	for i := range words {
		length, err := readLength(r, '$')
		if err != nil {
			return nil, err
		}
		b := make([]byte, length+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		words[i] = string(b[:length])
	}
	return words, nil
}

func readLength(r *bufio.Reader, kind byte) (int, error) {
	line, err := r.ReadString('\n')
	if err != nil || line[0] != kind {
		return 0, fmt.Errorf("line %q: %w", line, err)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

func (n *node) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sent)
}

func ask(t *testing.T, n *node) ([]string, error) {
	t.Helper()
	s := Open(Config{Cluster: []string{n.listener.Addr().String()}, Timeout: 2 * time.Second})
	t.Cleanup(func() { _ = s.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return s.Eval(ctx, "return {'ok'}", []string{"key"})
}

// A script whose answer is lost may have run. So the cluster's client must not send it again, not even after
// ASKING.
func TestWhatWasLostIsNotSentAgain(t *testing.T) {
	lossy := startNode(t, func(string) string { return "" })
	defer func() { _ = lossy.listener.Close() }()
	_, err := ask(t, lossy)
	if err == nil || !strings.Contains(err.Error(), lossy.listener.Addr().String()) {
		t.Errorf("the error is %v", err)
	}
	if n := lossy.count(); n != 1 {
		t.Errorf("a script was sent %d times", n)
	}

	asking := startNode(t, func(string) string { return "-ASK 1 " + lossy.listener.Addr().String() + "\r\n" })
	defer func() { _ = asking.listener.Close() }()
	if _, err := ask(t, asking); err == nil {
		t.Error("no error")
	}
	if n := lossy.count(); n != 2 {
		t.Errorf("a script was sent %d times behind ASKING", n-1)
	}
}

// A node that redirects, or can't answer yet, has run nothing, so the client continues.
func TestWhatDidNotRunIsSentAgain(t *testing.T) {
	good := startNode(t, func(string) string { return "*1\r\n$2\r\nok\r\n" })
	defer func() { _ = good.listener.Close() }()
	for _, said := range []string{"-MOVED 1 " + good.listener.Addr().String(), "-ASK 1 " + good.listener.Addr().String()} {
		before := good.count()
		other := startNode(t, func(string) string { return said + "\r\n" })
		answer, err := ask(t, other)
		if err != nil || len(answer) != 1 || good.count() != before+1 {
			t.Errorf("after %s: %q, %v, sent %d times", said, answer, err, good.count()-before)
		}
		_ = other.listener.Close()
	}
	for _, first := range []string{"-CLUSTERDOWN The cluster is down", "-TRYAGAIN Multiple keys", "-NOSCRIPT No matching script"} {
		var asked atomic.Int32
		tired := startNode(t, func(string) string {
			if asked.Add(1) == 1 {
				return first + "\r\n"
			}
			return "*1\r\n$2\r\nok\r\n"
		})
		if answer, err := ask(t, tired); err != nil || len(answer) != 1 || asked.Load() != 2 {
			t.Errorf("after %s: %q, %v, asked %d times", first, answer, err, asked.Load())
		}
		_ = tired.listener.Close()
	}
}
