package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"locus/config"
)

// proxyProcess is a running proxy.
type proxyProcess struct {
	*child
	addr   string
	config string // path of its configuration
}

// clients is the number of clients that each proxy accepts: ten thousand idle ones, and some more.
const clients = 12_000

// databaseConnections is the number of connections to each server that all proxies together may use.
const databaseConnections = 400

// proxyConfig returns the configuration of one proxy, with the settings that differ from the defaults.
func (d *directory) proxyConfig(o Options, i int, addr, endpoint, keyRing string) ([]byte, error) {
	http := map[string]any{"listen": ""}
	if i == 0 && o.HTTP != "" {
		http = map[string]any{
			"listen": o.HTTP, "user": "admin", "password_file": d.file("secrets", httpSecret),
			"accounts": []any{map[string]any{"user": "viewer", "role": "viewer", "secret": viewerSecret}},
		}
	}
	perShard := max(2, min(100, databaseConnections/o.Proxies))
	return yaml.Marshal(map[string]any{
		"cluster":  clusterName,
		"etcd":     map[string]any{"endpoints": []string{endpoint}},
		"proxy":    map[string]any{"listen": addr, "max_connections": clients, "drain_delay": "0s"}, // the demo has no load balancer that needs the delay
		"http":     http,
		"backends": map[string]any{"max_connections_per_shard": perShard},
		"secrets":  map[string]any{"dir": d.file("secrets")},
		"data_dir": d.file(fmt.Sprintf("proxy-%d", i)),
		"key_ring": keyRing,
	})
}

// startProxies writes the configurations and starts the processes. With an error, it also returns the processes
// that did start.
func (d *directory) startProxies(o Options, endpoint, keyRing string) ([]*proxyProcess, error) {
	addresses, err := o.proxyAddresses()
	if err != nil {
		return nil, err
	}
	var started []*proxyProcess
	for i, addr := range addresses {
		text, err := d.proxyConfig(o, i, addr, endpoint, keyRing)
		if err != nil {
			return started, err
		}
		if _, err := config.Parse(text); err != nil {
			return started, fmt.Errorf("configuration of proxy %d: %w", i, err)
		}
		path := d.file(fmt.Sprintf("proxy-%d.yaml", i))
		head := "# Written by locus demo at each start.\n"
		if err := writeFile(path, head+string(text)); err != nil {
			return started, err
		}
		c, err := startChild(d.file("logs", fmt.Sprintf("proxy-%d.log", i)), o.Binary, "serve", "-c", path)
		if err != nil {
			return started, err
		}
		started = append(started, &proxyProcess{c, addr, path})
	}
	return started, nil
}

const (
	proxyStartPatience = time.Minute
	proxyStopPatience  = 20 * time.Second
	proxyPollEvery     = 50 * time.Millisecond
)

// awaitProxies waits until each proxy answers a query.
func awaitProxies(ctx context.Context, proxies []*proxyProcess, password string) error {
	ctx, cancel := context.WithTimeout(ctx, proxyStartPatience)
	defer cancel()
	for i, p := range proxies {
		if err := p.await(ctx, password); err != nil {
			return fmt.Errorf("proxy %d at %s: %w", i, p.addr, err)
		}
	}
	return nil
}

func (p *proxyProcess) await(ctx context.Context, password string) error {
	again := time.NewTicker(proxyPollEvery)
	defer again.Stop()
	for {
		err := answers(ctx, p.addr, password)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return fmt.Errorf("it doesn't serve: %w; its log %s ends with:\n%s", err, p.log, lastLines(p.log, 5))
		case <-again.C:
		}
	}
}

func answers(ctx context.Context, addr, password string) error {
	c, err := connect(ctx, addr, password)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.Execute("SELECT 1")
	return err
}

// stopProxies stops the proxies concurrently, because draining may take long.
func stopProxies(ctx context.Context, proxies []*proxyProcess) error {
	ctx, cancel := context.WithTimeout(ctx, proxyStopPatience)
	defer cancel()
	errs := make([]error, len(proxies))
	var stopping sync.WaitGroup
	for i, p := range proxies {
		stopping.Go(func() {
			if err := p.stop(ctx); err != nil {
				errs[i] = fmt.Errorf("proxy %d: %w", i, err)
			}
		})
	}
	stopping.Wait()
	return errors.Join(errs...)
}
