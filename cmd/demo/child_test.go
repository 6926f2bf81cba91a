package demo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sh(t *testing.T, script string) *child {
	t.Helper()
	c, err := startChild(filepath.Join(t.TempDir(), "log"), "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAChildEndsWhenAsked(t *testing.T) {
	c := sh(t, "exec sleep 1000")
	if err := c.stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.stop(t.Context()); err != nil { // again
		t.Error(err)
	}
}

func TestAChildThatDoesNotEndIsKilled(t *testing.T) {
	c := sh(t, "trap '' TERM; echo deaf; while :; do sleep 1; done")
	deadline := time.Now().Add(10 * time.Second)
	for lastLines(c.log, 1) != "deaf" && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond) //nolint:forbidigo // polls another process
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.stop(ctx); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("error is %v", err)
	}
}

func TestAChildThatEndedSaysHow(t *testing.T) {
	c := sh(t, "for i in 1 2 3 4 5 6 7; do echo line $i; done; exit 3")
	<-c.done
	want := "it ended: exit status 3; its log " + c.log + " ends with:\nline 3\nline 4\nline 5\nline 6\nline 7"
	if err := c.ended(); err.Error() != want {
		t.Errorf("it says %v", err)
	}
}

func TestAReadyFileIsThereWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ready.json")
	if err := removeReady(path); err != nil {
		t.Error(err)
	}
	r := ready{Proxies: []readyProxy{{"127.0.0.1:1", 2}}, Shards: []readyShard{{Name: "s0"}}, Etcd: []string{"127.0.0.1:3"}}
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"proxies"`, `"http": {`, `"url": ""`, `"etcd": [`, `"pid": 2`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if err := removeReady(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
}
