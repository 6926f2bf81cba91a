package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const haproxyPatience = 10 * time.Second

// haproxy is the plain TCP hop that the proxy is compared with: one frontend, one server, nothing balanced.
type haproxy struct {
	*child
	addr string
}

const haproxyConfig = `global
    maxconn 256
%s
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h

frontend bench
    bind %s
    default_backend shard

backend shard
    server s0 %s
`

func startHaproxy(ctx context.Context, threads int, dir, server string) (*haproxy, error) {
	binary, err := haproxyBinary()
	if err != nil {
		return nil, err
	}
	port, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	limit := ""
	if threads > 0 {
		limit = fmt.Sprintf("    nbthread %d\n", threads)
	}
	config := filepath.Join(dir, "haproxy.cfg")
	text := fmt.Sprintf(haproxyConfig, limit, loopback(port), server)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("start haproxy: %w", err)
	}
	c, err := startChild(exec.Command(binary, "-db", "-f", config), filepath.Join(dir, "haproxy.log"))
	if err != nil {
		return nil, fmt.Errorf("start haproxy: %w", err)
	}
	h := &haproxy{child: c, addr: loopback(port)}
	if err := c.until(ctx, haproxyPatience, func() error { return greets(h.addr) }); err != nil {
		h.stop(haproxyPatience)
		return nil, fmt.Errorf("start haproxy: %w", err)
	}
	return h, nil
}

func haproxyBinary() (string, error) {
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("haproxy not found: apt-get install haproxy")
}

// haproxyVersion returns the version number only: "2.6.12".
func haproxyVersion() string {
	path, err := haproxyBinary()
	if err != nil {
		return "unknown"
	}
	said, _ := exec.Command(path, "-v").Output()
	line, _, _ := strings.Cut(string(said), "\n")
	return number.FindString(line)
}

// number matches the leading number of a version, without suffixes of a distribution or a kernel's builder.
var number = regexp.MustCompile(`\d+(\.\d+)+`)
