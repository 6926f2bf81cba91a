package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every command in a fenced block of the documents exists, with the flags and the number of arguments that it is written with.
func TestDocumentedCommands(t *testing.T) {
	commands := 0
	for _, root := range []string{"../../README.md", "../../docs", "../../deploy"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".md") || strings.HasSuffix(path, "cli.md") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, line := range commandLines(string(text)) {
				commands++
				if err := parses(line); err != nil {
					t.Errorf("%s: %s: %v", path, line, err)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if commands < 80 {
		t.Errorf("only %d commands were found", commands)
	}
}

// commandLines returns the lines of fenced blocks that call locus, without comments and redirections.
func commandLines(document string) (lines []string) {
	fenced := false
	for line := range strings.Lines(document) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		line = strings.TrimPrefix(line, "bin/")
		if fenced && strings.HasPrefix(line, "locus ") {
			line = regexp.MustCompile(`\s+#.*$|\s+>.*$`).ReplaceAllString(line, "")
			lines = append(lines, line)
		}
	}
	return lines
}

// parses reports how a command line differs from what the commands accept. Nothing is run.
func parses(line string) error {
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		words = append(words, m[1]+m[2]+m[3])
	}
	command, rest, err := newRoot(&invocation{getenv: func(string) string { return "" }}).Find(words[1:])
	if err != nil {
		return err
	}
	command.InitDefaultHelpFlag()
	if err := command.ParseFlags(rest); err != nil && err != pflag.ErrHelp {
		return err
	}
	return command.ValidateArgs(command.Flags().Args())
}
