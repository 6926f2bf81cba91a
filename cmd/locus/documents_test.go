package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentsNameCommandsThatExist parses every command line of locus in the documents: the command exists, and so do its flags. In a block,
// which is there to be copied, the arguments are as many as the command takes.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	checked := 0
	for path, text := range documentTexts(t) {
		for i, part := range strings.Split(text, "```") {
			lines, block := inlineCode(part), i%2 == 1
			if block {
				lines = strings.Split(part, "\n")
			}
			for _, line := range lines {
				for _, words := range commandLines(line) {
					checked++
					if err := parses(words, block); err != nil && (block || !strings.Contains(err.Error(), "flag needs an argument")) {
						t.Errorf("%s: %s: %v", path, strings.TrimSpace(line), err)
					}
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d command lines were found", checked)
	}
}

// documentTexts are the documents that describe this version.
func documentTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{"testdata", ".git", "bin"}, entry.Name()) || strings.HasPrefix(entry.Name(), "locus-demo")):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md") && !slices.Contains([]string{"CHANGELOG.md", "commands.md"}, entry.Name()): // what former versions had; and what TestReference holds to the commands
			text, err := os.ReadFile(path)
			texts[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var code = regexp.MustCompile("`([^`\n]+)`")

func inlineCode(text string) (spans []string) {
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		spans = append(spans, m[1])
	}
	return spans
}

var (
	commandBegins = regexp.MustCompile(`^(\$ )?(export \S+; )?(\S*/)?locus [a-z-]`)
	word          = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)
)

// commandLines are the words of each command of locus in a line of a shell.
func commandLines(line string) (all [][]string) {
	line, _, _ = strings.Cut(line, "  #")
	for _, command := range regexp.MustCompile(`&&|\|\||[|;]`).Split(line, -1) {
		command = strings.TrimSpace(command)
		if !commandBegins.MatchString(command) {
			continue
		}
		words := word.FindAllString(command, -1)
		words = words[slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "locus") })+1:]
		if end := slices.IndexFunc(words, func(w string) bool { return w[0] == '>' || w[0] == '<' || w == "&" }); end >= 0 {
			words = words[:end]
		}
		all = append(all, words)
	}
	return all
}

// parses returns what is wrong with a command line, which is not run.
func parses(words []string, whole bool) error {
	root := newRoot(&invocation{getenv: func(string) string { return "" }})
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	args := c.Flags().Args()
	if c.HasAvailableSubCommands() && len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	if !whole {
		return nil
	}
	return c.ValidateArgs(args)
}
