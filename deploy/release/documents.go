package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Where the binary's own documents are in the work directory.
const (
	manPages    = "man"
	completions = "completions"
)

// completionFiles are the names by which shells find the completions of a program.
var completionFiles = map[string]string{"bash": "locus", "zsh": "_locus", "fish": "locus.fish"}

// writeDocuments lets the binary write its man pages and completions, and writes the changelogs of the Debian package.
func (r *release) writeDocuments(ctx context.Context) error {
	binary, err := r.native(ctx)
	if err != nil {
		return err
	}
	man := exec.CommandContext(ctx, binary, "man", r.made(manPages))
	man.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()))
	if _, err := output(man); err != nil {
		return err
	}
	if err := r.compressPages(); err != nil {
		return err
	}
	for shell, name := range completionFiles {
		text, err := output(exec.CommandContext(ctx, binary, "completion", shell))
		if err != nil {
			return err
		}
		if err := r.write(filepath.Join(completions, name), []byte(text+"\n")); err != nil {
			return err
		}
	}
	return r.writeChangelogs()
}

// compressPages compresses each man page, as distributions install them.
func (r *release) compressPages() error {
	pages, err := filepath.Glob(filepath.Join(r.made(manPages), "*.1"))
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := r.writeCompressed(filepath.Join(manPages, filepath.Base(page)+".gz"), text); err != nil {
			return err
		}
	}
	return nil
}

// writeChangelogs writes the product's changelog, and Debian's, which refers to it.
func (r *release) writeChangelogs() error {
	text, err := os.ReadFile(r.source("CHANGELOG.md"))
	if err != nil {
		return err
	}
	if err := r.writeCompressed("changelog.gz", text); err != nil {
		return err
	}
	entry := fmt.Sprintf("locus (%s) stable; urgency=medium\n\n  * Version %s. The changes are in changelog.gz.\n\n -- %s  %s\n",
		debianVersion(r.number()), r.version, maintainer, r.date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	return r.writeCompressed("changelog.Debian.gz", []byte(entry))
}

// debianVersion returns a version as Debian writes it: a release candidate sorts before its release.
func debianVersion(number string) string {
	return strings.Replace(number, "-", "~", 1) + "-" + revision
}

// made returns the path of a file or directory in the work directory.
func (r *release) made(name string) string { return filepath.Join(r.work, name) }

// write writes a file of the work directory.
func (r *release) write(name string, content []byte) error {
	path := r.made(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func (r *release) writeCompressed(name string, content []byte) error {
	var b bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := compressed.Write(content); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	return r.write(name, b.Bytes())
}
