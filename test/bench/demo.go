package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	buildPatience     = 10 * time.Minute
	demoStartPatience = 2 * time.Minute
	demoStopPatience  = 30 * time.Second
	demoProxies       = 3 // one for load, one each for the rows that weigh a process that did nothing before
)

// startDemo builds the product, and starts its demo with empty tables on free ports.
func startDemo(ctx context.Context, o options, dir string, more ...string) (ready, *child, error) {
	binary, err := buildProduct(ctx)
	if err != nil {
		return ready{}, nil, err
	}
	proxyPort, err := freePorts(demoProxies)
	if err != nil {
		return ready{}, nil, err
	}
	httpPort, err := freePorts(1)
	if err != nil {
		return ready{}, nil, err
	}
	file := filepath.Join(dir, "ready.json")
	demo, err := startChild(exec.Command(binary, append([]string{
		"demo",
		"--data", filepath.Join(dir, "demo"), "--engine", o.engine,
		"--shards", "2", "--spare", "0", "--proxies", strconv.Itoa(demoProxies),
		"--proxy", loopback(proxyPort), "--http", loopback(httpPort),
		"--orders-per-second", "0", "--ready-file", file,
	}, more...)...), filepath.Join(dir, "demo.log"))
	if err != nil {
		return ready{}, nil, fmt.Errorf("start demo: %w", err)
	}
	var r ready
	err = demo.until(ctx, demoStartPatience, func() (err error) { r, err = loadReady(file); return err })
	if err != nil {
		demo.stop(demoStopPatience)
		return ready{}, nil, fmt.Errorf("start demo: %w", err)
	}
	return r, demo, nil
}

// buildProduct makes bin/locus of this module and returns its path.
func buildProduct(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildPatience)
	defer cancel()
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(root, "bin", "locus")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/locus")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/locus: %w\n%s", err, said)
	}
	return binary, nil
}

func moduleRoot(ctx context.Context) (string, error) {
	mod, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(mod))), nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts finds n consecutive loopback ports on which nobody listens, below the range of ephemeral ports, and
// returns the first.
func freePorts(n int) (int, error) {
	for range 50 {
		first := 20_000 + rand.IntN(12_000)
		if allFree(first, n) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("find %d consecutive free ports: none in 50 tries", n)
}

func allFree(first, n int) bool {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
