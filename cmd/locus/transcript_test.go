//go:build servers

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"locus/internal/test/golden"
	"locus/internal/test/servers"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	servers.Main(m)
}

// transcript is a session on a terminal. Each line "$ locus …" is followed by the output of that command:
// lines of standard output after "| ", lines of standard error after "! ", and "exit N" unless N is 0. Other
// lines that begin with a sign and a space are steps of the test, see its fields; "# " begins a comment. Words
// like ${ETCD} stand for texts that differ from run to run.
type transcript struct {
	words map[string]string // the texts that replace ${NAME}, by name
	steps map[string]func(t *testing.T, line string)
}

func (s transcript) play(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		sign, rest, _ := strings.Cut(line, " ")
		switch {
		case sign == "#" || line == "":
			out.WriteString(line + "\n")
		case sign == "$":
			out.WriteString(line + "\n" + s.command(t, rest))
		case s.steps[sign] != nil:
			s.steps[sign](t, s.expand(rest))
			out.WriteString(line + "\n")
		default: // earlier output; it is compared as a whole below
		}
	}
	if golden.Update(t, path, out.String()) {
		return
	}
	if got, want := out.String(), string(text); got != want {
		t.Error(udiff.Unified(path, "what was printed", want, got))
	}
}

func (s transcript) expand(text string) string {
	return os.Expand(text, func(name string) string {
		if word, known := s.words[name]; known {
			return word
		}
		return "${" + name + "}"
	})
}

// contract is the reverse of expand.
func (s transcript) contract(text string) string {
	for name, word := range s.words {
		text = strings.ReplaceAll(text, word, "${"+name+"}")
	}
	return text
}

// command runs one command line and returns its output.
func (s transcript) command(t *testing.T, line string) string {
	t.Helper()
	args := split(line)
	for i := range args {
		args[i] = s.expand(args[i])
	}
	var stdout, stderr bytes.Buffer
	in := &invocation{
		stdin: strings.NewReader(typed(line)), stdout: &stdout, stderr: &stderr,
		getenv: func(name string) string {
			return map[string]string{"LOCUS_OPERATOR": "anna@desk"}[name]
		},
		now:    func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) },
		random: strings.NewReader(strings.Repeat("salt", 10)),
	}
	status := run(t.Context(), args[1:], in)
	var out strings.Builder
	for text := range strings.Lines(stdout.String()) {
		if id, is := strings.CutPrefix(text, "  id: "); is && s.words != nil { // this line depends on addresses; ${ID} becomes the last ID
			s.words["ID"] = strings.TrimSpace(id)
			text = "  id: ${ID}\n"
		}
		out.WriteString("| " + text)
	}
	for text := range strings.Lines(stderr.String()) {
		out.WriteString("! " + text)
	}
	if status != 0 {
		out.WriteString("exit " + string(rune('0'+status)) + "\n")
	}
	// Editors cut spaces at the end of a line.
	return regexp.MustCompile(`(?m)[ ]+$`).ReplaceAllString(s.contract(out.String()), "")
}

// typed returns the standard input of a command: passwords if it reads one, otherwise nothing.
func typed(line string) string {
	switch {
	case !strings.Contains(line, "--password-stdin"):
		return ""
	case strings.Contains(line, " passwd "):
		return "an0ther\n"
	}
	return "s3cret\n"
}

// split splits a line into words at spaces, except within double quotes.
func split(line string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(m, `"`))
	}
	return words
}
