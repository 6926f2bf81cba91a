package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v4"
)

const beforePatience = time.Minute

// viaBefore is the lane through another build of the product, in the same cluster as the one that is measured.
const viaBefore = "before"

// startBefore runs another build of the product next to the demo's proxies, with the configuration of one of
// them on another port. The two lanes then use the same shards and differ only in the build.
func (s *stand) startBefore(ctx context.Context, dir string) error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	addr := loopback(ports)
	path := filepath.Join(dir, "before.yaml")
	if err := configureBefore(filepath.Join(dir, "demo", "proxy-1.yaml"), path, addr, filepath.Join(dir, "before")); err != nil {
		return fmt.Errorf("-before: %w", err)
	}
	c, err := startChild(exec.Command(s.options.before, "serve", "-c", path), filepath.Join(dir, "before.log"))
	if err != nil {
		return fmt.Errorf("-before: %w", err)
	}
	s.undo = append(s.undo, func() { c.stop(demoStopPatience) })
	if err := c.until(ctx, beforePatience, func() error { return greets(addr) }); err != nil {
		return fmt.Errorf("-before: %w", err)
	}
	e := s.ready.proxy(0)
	e.addr = addr
	s.before = lane{viaBefore, []endpoint{e}, c.pid(), stamped}
	return nil
}

// configureBefore writes the configuration of one proxy for another.
func configureBefore(of, to, addr, data string) error {
	text, err := os.ReadFile(of)
	if err != nil {
		return err
	}
	var c map[string]any
	if err := yaml.Unmarshal(text, &c); err != nil {
		return err
	}
	proxy, ok := c["proxy"].(map[string]any)
	if !ok {
		return errors.New("the demo's configuration has no proxy")
	}
	proxy["listen"], c["data_dir"] = addr, data
	if text, err = yaml.Marshal(c); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// greets succeeds once a server's greeting comes.
func greets(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}
