package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The section that this program owns in a document of many.
const (
	sectionBegin = "<!-- benchmark: begin, written by make bench -->\n"
	sectionEnd   = "<!-- benchmark: end -->\n"
)

// publish replaces the benchmark section of a file, adds one at its end, or makes the file.
func publish(path, markdown string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("publish: %w", err)
	}
	if err := os.WriteFile(path, []byte(withSection(string(old), markdown)), 0o644); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func withSection(document, markdown string) string {
	section := sectionBegin + "\n" + markdown + "\n" + sectionEnd
	before, rest, begun := strings.Cut(document, sectionBegin)
	_, after, ended := strings.Cut(rest, sectionEnd)
	if begun && ended {
		return before + section + after
	}
	if document != "" {
		document = strings.TrimRight(document, "\n") + "\n\n"
	}
	return document + section
}
