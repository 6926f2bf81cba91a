package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"locus/config"
	"locus/proxy/handshake"
)

// told is a fake proxy that records its calls.
type told struct {
	slow   time.Duration
	reread chan struct{}
}

func (p *told) SetSlow(after time.Duration) { p.slow = after }
func (p *told) Reread()                     { p.reread <- struct{}{} }

// counted is a key ring that is read again so often.
type counted struct{ rereads int }

func (c *counted) Reread() { c.rereads++ }

func TestReload(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if _, err := handshake.SelfSigned(dir + "/" + name); err != nil {
			t.Fatal(err)
		}
	}
	text := func(certificate, more string) string {
		return fmt.Sprintf("proxy:\n  tls: {cert: %[1]s/%[2]s/server-cert.pem, key: %[1]s/%[2]s/server-key.pem}\n%[3]s", dir, certificate, more)
	}
	parse := func(text string) *config.Config {
		c, err := config.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var log bytes.Buffer
	next, wrong := parse(text("a", "")), error(nil)
	p := &told{reread: make(chan struct{}, 1)}
	keys := new(counted)
	r := &reloader{
		load:    func() (*config.Config, error) { return next, wrong },
		current: *next, level: new(slog.LevelVar), certificates: new(certificates), proxy: p, keys: keys,
	}
	r.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: r.level}))
	if err := r.certificates.load(next); err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		c, err := r.certificates.clients.server().GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(c.Certificate[0])
	}
	first := shown()
	reload := func(c *config.Config, err error) string {
		log.Reset()
		next, wrong = c, err
		r.reload()
		return log.String()
	}

	out := reload(parse(text("b", "  slow_statement: 20ms\n  max_connections: 7\nhttp: {tls: {cert: x, key: y}}\nids: {tls: {cert: x, key: y}}\nlog: {level: debug}\n")), nil)
	for _, want := range []string{
		"is applied\" field=log.level", "is applied\" field=proxy.slow_statement", "is applied\" field=proxy.tls.cert",
		"next start\" field=proxy.max_connections", "next start\" field=http.tls.cert", "next start\" field=ids.tls.cert",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the log lacks %s:\n%s", want, out)
		}
	}
	<-p.reread
	if shown() == first || p.slow != 20*time.Millisecond || r.level.Level() != slog.LevelDebug {
		t.Errorf("another certificate %v, slow %v, level %v", shown() != first, p.slow, r.level.Level())
	}
	second := shown()
	out = reload(parse(text("nowhere", "  slow_statement: 30ms\n")), nil)
	if !strings.Contains(out, "no change of the configuration was applied") || shown() != second || p.slow != 20*time.Millisecond {
		t.Errorf("with a certificate that is missing: %v\n%s", p.slow, out)
	}
	if out = reload(nil, fmt.Errorf("line 3: no such field")); !strings.Contains(out, "line 3") || shown() != second {
		t.Errorf("with a wrong file: %s", out)
	}

	if keys.rereads != 3 {
		t.Errorf("the key ring was read again %d times", keys.rereads)
	}

	ctx, stop := context.WithCancel(t.Context())
	signals, ended := make(chan os.Signal), make(chan error)
	next, wrong = parse(text("a", "")), nil
	go func() { ended <- r.run(ctx, signals) }()
	signals <- os.Interrupt
	<-p.reread
	stop()
	<-ended
	if shown() != first {
		t.Error("the signal does nothing")
	}
}
