package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// section is a part of a document of many that this program owns.
type section struct{ begin, end string }

// The sections: moves, imports, generators, outages, definitions, few rows and system calls have one of their own, so that they can be measured by themselves.
var (
	hopSection     = section{"<!-- benchmark: begin, written by make bench -->\n", "<!-- benchmark: end -->\n"}
	idsSection     = section{"<!-- benchmark of generators: begin, written by make bench -->\n", "<!-- benchmark of generators: end -->\n"}
	movesSection   = section{"<!-- benchmark of moves: begin, written by make bench -->\n", "<!-- benchmark of moves: end -->\n"}
	importsSection = section{"<!-- benchmark of imports: begin, written by make bench -->\n", "<!-- benchmark of imports: end -->\n"}
	outagesSection = section{"<!-- benchmark of outages: begin, written by make bench -->\n", "<!-- benchmark of outages: end -->\n"}

	definitionsSection = section{"<!-- benchmark of definitions: begin, written by make bench -->\n", "<!-- benchmark of definitions: end -->\n"}
	fewRowsSection     = section{"<!-- benchmark of few rows: begin, written by make bench -->\n", "<!-- benchmark of few rows: end -->\n"}
	callsSection       = section{"<!-- benchmark of system calls: begin, written by make bench -->\n", "<!-- benchmark of system calls: end -->\n"}
)

// sections contains all sections in the order of the report.
var sections = []section{hopSection, idsSection, movesSection, importsSection, outagesSection, definitionsSection, fewRowsSection, callsSection}

// publish replaces a section of a file, adds one at its end, or makes the file.
func publish(path string, s section, markdown string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("publish: %w", err)
	}
	if err := os.WriteFile(path, []byte(s.within(string(old), markdown)), 0o644); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func (s section) within(document, markdown string) string {
	whole := s.begin + "\n" + markdown + "\n" + s.end
	before, rest, begun := strings.Cut(document, s.begin)
	_, after, ended := strings.Cut(rest, s.end)
	if begun && ended {
		return before + whole + after
	}
	if document != "" {
		document = strings.TrimRight(document, "\n") + "\n\n"
	}
	return document + whole
}
