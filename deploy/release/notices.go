package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// notices is the file with the licences of what a binary contains.
const notices = "NOTICES"

// legal matches the names of files that must go with copies of a module.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([.-].*)?$`)

// module is a module whose packages are in a binary.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// writeNotices collects the licences of all modules, and of Go, whose packages are in the binaries. A module without any is an error.
func (r *release) writeNotices(ctx context.Context) error {
	modules := map[string]module{}
	for _, arch := range r.targets {
		if err := r.addModules(ctx, arch, modules); err != nil {
			return err
		}
	}
	root, err := output(r.golang(ctx, "linux", r.targets[0], "env", "GOROOT"))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("The binary of locus contains packages of the following modules, under these licences.\n")
	if err := writeNotice(&text, "The Go standard library", root); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		m := modules[path]
		if err := writeNotice(&text, m.Path+" "+m.Version, m.Dir); err != nil {
			return err
		}
	}
	return errors.Join(r.write(notices, text.Bytes()), r.writeCopyright(text.Bytes()))
}

// addModules adds the modules of an architecture's binary.
func (r *release) addModules(ctx context.Context, arch string, modules map[string]module) error {
	text, err := output(r.golang(ctx, "linux", arch, "list", "-deps", "-json=Module", "./cmd/locus"))
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var p struct{ Module *module }
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("modules of the binary: %w", err)
		}
		if p.Module != nil && !p.Module.Main {
			modules[p.Module.Path] = *p.Module
		}
	}
}

// writeNotice writes the legal files of a directory.
func writeNotice(text *bytes.Buffer, title, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, entry := range entries {
		if entry.IsDir() || !legal.MatchString(entry.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		found = true
		fmt.Fprintf(text, "\n%s\n%s: %s\n\n%s\n", rule, title, entry.Name(), bytes.TrimSpace(content))
	}
	if !found {
		return fmt.Errorf("module %s has no licence in %s", title, dir)
	}
	return nil
}

const rule = "------------------------------------------------------------------------"

// writeCopyright writes the file that Debian requires: the product's licence, then those of the modules.
func (r *release) writeCopyright(notices []byte) error {
	license, err := os.ReadFile(r.source("LICENSE"))
	if err != nil {
		return err
	}
	return r.write("copyright", slices.Concat([]byte("locus is published under the following licence.\n\n"), license, []byte("\n"+rule+"\n"), notices))
}
