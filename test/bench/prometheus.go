package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"
)

const (
	// scraping is the deployed configuration, with the addresses of an example.
	scraping = "deploy/prometheus/prometheus.yaml"
	// alertUnwell is the alert for a server that is not well.
	alertUnwell = "LocusServerUnwell"
)

// prometheus is Debian's Prometheus server. It scrapes a demo's first proxy with the deployed configuration.
type prometheus struct {
	url  string
	stop func()
}

// startPrometheus waits until the server has loaded its rules.
func startPrometheus(ctx context.Context, dir string, of readyHTTP) (_ *prometheus, err error) {
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		return nil, fmt.Errorf("%w: test/install/servers.sh test installs it", err)
	}
	file := filepath.Join(dir, "prometheus.yaml")
	if err := writeScraping(file, of); err != nil {
		return nil, err
	}
	port, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	command := exec.CommandContext(running, binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "prometheus"), "--web.listen-address="+loopback(port), "--log.level=error")
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		cancel()
		return nil, err
	}
	p := &prometheus{url: "http://" + loopback(port), stop: func() { cancel(); _ = command.Wait() }}
	waiting, done := context.WithTimeout(ctx, outagePatience)
	defer done()
	for {
		if _, err = p.tells(waiting, ""); err == nil {
			return p, nil
		}
		if sleep(waiting, toldPause) != nil {
			p.stop()
			return nil, fmt.Errorf("prometheus does not answer: %w", err)
		}
	}
}

// writeScraping writes the deployed configuration with the demo's address and account.
func writeScraping(file string, of readyHTTP) error {
	text, err := os.ReadFile(scraping)
	if err != nil {
		return err
	}
	var deployed map[string]any
	if err := yaml.Unmarshal(text, &deployed); err != nil {
		return fmt.Errorf("%s: %w", scraping, err)
	}
	rules, err := filepath.Abs(filepath.Join(filepath.Dir(scraping), "alerts.yaml"))
	if err != nil {
		return err
	}
	deployed["rule_files"] = []string{rules}
	jobs, _ := deployed["scrape_configs"].([]any)
	for _, j := range jobs {
		job, is := j.(map[string]any)
		if !is {
			return fmt.Errorf("%s: a job is not a mapping", scraping)
		}
		delete(job, "scheme")
		delete(job, "tls_config")
		job["basic_auth"] = map[string]string{"username": of.User, "password": of.Password}
		job["static_configs"] = []any{map[string]any{"targets": []string{strings.TrimPrefix(of.URL, "http://")}}}
	}
	if text, err = yaml.Marshal(deployed); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// tells reports whether the alert fires for a server of a shard.
func (p *prometheus) tells(ctx context.Context, shard string) (bool, error) {
	body, err := fetch(ctx, p.url+"/api/v1/alerts", "", "")
	if err != nil {
		return false, err
	}
	var found struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return false, fmt.Errorf("/api/v1/alerts: %w", err)
	}
	for _, a := range found.Data.Alerts {
		if a.State == "firing" && a.Labels["alertname"] == alertUnwell && a.Labels["shard"] == shard {
			return true, nil
		}
	}
	return false, nil
}
