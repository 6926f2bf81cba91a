package main

import (
	"archive/tar"
	"cmp"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// entry is a file of an archive, or a directory if it has no source.
type entry struct {
	name   string
	source string
	text   []byte // the content, if there is no source
	mode   int64
}

// writeTar writes a compressed archive of entries, in the order of their names, with one date and one owner.
func writeTar(name string, date time.Time, entries []entry) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	compressed := gzip.NewWriter(f)
	t := tar.NewWriter(compressed)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range entries {
		if err := writeEntry(t, date, e); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeEntry(t *tar.Writer, date time.Time, e entry) error {
	header := &tar.Header{Name: e.name, Mode: e.mode, ModTime: date, Format: tar.FormatPAX}
	if strings.HasSuffix(e.name, "/") {
		header.Typeflag = tar.TypeDir
		return t.WriteHeader(header)
	}
	if e.source == "" {
		header.Size = int64(len(e.text))
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		_, err := t.Write(e.text)
		return err
	}
	f, err := os.Open(e.source)
	if err != nil {
		return err
	}
	defer f.Close()
	status, err := f.Stat()
	if err != nil {
		return err
	}
	header.Size = status.Size()
	if err := t.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}

// writeArchive writes the archive of an architecture for machines without packages.
func (r *release) writeArchive(arch string) error {
	base := "locus-" + r.version + "-linux-" + arch
	entries := []entry{
		{name: base + "/locus", source: r.binary(arch), mode: 0o755},
		{name: base + "/LICENSE", source: r.source("LICENSE"), mode: 0o644},
		{name: base + "/" + notices, source: r.made(notices), mode: 0o644},
		{name: base + "/locus.service", source: r.source("deploy/systemd/locus.service"), mode: 0o644},
		{name: base + "/locus.yaml", source: r.source("deploy/one-machine/locus.yaml"), mode: 0o644},
	}
	for shell, name := range completionFiles {
		entries = append(entries, entry{name: path.Join(base, completions, shell, name), source: r.made(path.Join(completions, name)), mode: 0o644})
	}
	pages, err := os.ReadDir(r.made(manPages))
	if err != nil {
		return err
	}
	for _, page := range pages {
		if strings.HasSuffix(page.Name(), ".gz") {
			entries = append(entries, entry{name: path.Join(base, "man", "man1", page.Name()), source: r.made(path.Join(manPages, page.Name())), mode: 0o644})
		}
	}
	return writeTar(r.path(base+".tar.gz"), r.date, entries)
}
