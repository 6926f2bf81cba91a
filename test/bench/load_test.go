package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// fakeServer answers every command of every connection with the same bytes.
func fakeServer(t *testing.T, answer []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, answer)
		}
	}()
	return l.Addr().String()
}

// serve ends when the client closes.
func serve(c net.Conn, answer []byte) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		var header [headerSize]byte
		if _, err := io.ReadFull(in, header[:]); err != nil {
			return
		}
		if _, err := in.Discard(int(header[0]) | int(header[1])<<8); err != nil {
			return
		}
		if len(answer) == 0 {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// fakeLoad returns n clients with the given number of links each, after the login.
func fakeLoad(t *testing.T, n, links int, addr string, steps []step) *load {
	t.Helper()
	next := func() draw { return draw{buyer: 7, order: 42, width: 3} }
	l, err := newLoad(context.Background(), n, nil, func(int, int) script { return script{steps, next} }, text, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	for _, c := range l.clients {
		for range links {
			if err := l.add(c, rawLink(t, addr, steps)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return l
}

func rawLink(t *testing.T, addr string, steps []step) *link {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	k := &link{}
	if k.fd, err = duplicate(c); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		r, err := newRequest(s)
		if err != nil {
			t.Fatal(err)
		}
		k.requests = append(k.requests, r)
	}
	return k
}

func oneRow(first string) []byte {
	return packets("\x01", column, eofPacket, string(rune(len(first)))+first, eofPacket)
}

func TestEveryIterationIsCounted(t *testing.T) {
	l := fakeLoad(t, 4, 1, fakeServer(t, oneRow("42")), []step{selectByOrder(), selectByBuyer()})
	got, err := l.run(context.Background(), 0)
	if err != nil || got.statements != 8 || len(got.latencies) != 4 || got.bytes != 8*int64(len(oneRow("42"))) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = l.run(context.Background(), 20*time.Millisecond); err != nil || got.statements != 2*len(got.latencies) {
		t.Errorf("%d statements in %d iterations, %v", got.statements, len(got.latencies), err)
	}
}

func TestAStepIsOverWhenAllLinksHaveAnswered(t *testing.T) {
	l := fakeLoad(t, 2, 3, fakeServer(t, oneRow("42")), []step{selectByOrder()})
	if got, err := l.run(context.Background(), 0); err != nil || got.statements != 2 || got.bytes != 6*int64(len(oneRow("42"))) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A fast wrong answer is no answer.
func TestWrongAnswersEndTheRun(t *testing.T) {
	none := packets("\x01", column, eofPacket, eofPacket)
	for name, c := range map[string]struct {
		answer []byte
		step   step
		says   string
	}{
		"no row":        {none, selectByOrder(), "0 rows where 1 are due"},
		"another's row": {oneRow("43"), selectByOrder(), "first column is 43 where 42 is due"},
		"not inserted":  {packets("\x00\x00\x00\x02\x00\x00\x00"), insert(stamped), "0 rows affected where 1 are due"},
		"an error":      {packets(errPacket), insert(full), "error 1064"},
		"a part":        {oneRow("2"), countAll(width), "first column is 2 where 3 is due"},
		"a hang-up":     {nil, selectByOrder(), "the connection was closed"},
	} {
		l := fakeLoad(t, 2, 1, fakeServer(t, c.answer), []step{c.step})
		_, err := l.run(context.Background(), 0)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if verb, _, _ := strings.Cut(c.step.sql, " "); !strings.HasPrefix(err.Error(), verb) {
			t.Errorf("%s: the error doesn't name the statement: %v", name, err)
		}
	}
}

func TestInterruptedRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l := fakeLoad(t, 1, 1, fakeServer(t, oneRow("42")), []step{selectByOrder()})
	if _, err := l.run(ctx, time.Hour); err == nil {
		t.Error("it went on")
	}
}
