package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Every command in a fenced block of the documents exists, with the flags and the number of arguments that it is written with; and so does
// every command that a sentence names, with its flags.
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
			for _, span := range regexp.MustCompile("`locus ([a-z][^`]*)`").FindAllStringSubmatch(string(text), -1) {
				commands++
				if err := exists(span[1]); err != nil {
					t.Errorf("%s: locus %s: %v", path, span[1], err)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if commands < 250 {
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

// exists reports an error if a sentence names a command, or a flag of it, that does not exist.
func exists(text string) error {
	words := strings.Fields(text)
	command, _, err := newRoot(&invocation{getenv: func(string) string { return "" }}).Find(words)
	if err != nil {
		return err
	}
	if !command.HasParent() {
		return errors.New("no such command")
	}
	command.InitDefaultHelpFlag()
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") && command.Flags().Lookup(name) == nil && command.InheritedFlags().Lookup(name) == nil {
			return fmt.Errorf("no such flag: %s", word)
		}
	}
	return nil
}
