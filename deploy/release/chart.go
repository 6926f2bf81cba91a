package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// The chart in the repository has no version of its own.
const (
	chartVersion    = "version: 0.0.0\n"
	chartAppVersion = "appVersion: v0.0.0\n"
)

// writeChart packs the Helm chart, with the version of the release.
func (r *release) writeChart(context.Context) error {
	root := r.source("deploy/helm/locus")
	var entries []entry
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: path.Join("locus", filepath.ToSlash(relative)), source: file, mode: 0o644})
		return nil
	})
	if err != nil {
		return err
	}
	for i := range entries {
		if entries[i].name == "locus/Chart.yaml" {
			if entries[i].text, err = r.chartOf(entries[i].source); err != nil {
				return err
			}
			entries[i].source = ""
		}
	}
	return writeTar(r.path("locus-"+r.number()+".tgz"), r.date, entries)
}

func (r *release) chartOf(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, line := range []struct{ old, new string }{{chartVersion, "version: " + r.number() + "\n"}, {chartAppVersion, "appVersion: " + r.version + "\n"}} {
		if bytes.Count(text, []byte(line.old)) != 1 {
			return nil, fmt.Errorf("%s does not have one line %q", file, line.old)
		}
		text = bytes.Replace(text, []byte(line.old), []byte(line.new), 1)
	}
	return text, nil
}
