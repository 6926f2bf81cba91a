package wire

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/internal/test/golden"
)

// recorded is a response of a real server, with the expected results of a scan.
type recorded struct {
	name, kind string
	packets    [][]byte
	found      []string
}

func (r recorded) bytes() []byte {
	var b []byte
	for _, p := range r.packets {
		b = append(b, p...)
	}
	return b
}

func (r recorded) scanner() *Scanner {
	s := &Scanner{DeprecateEOF: strings.HasPrefix(r.name, "noeof-")}
	s.Reset(map[string]ResponseKind{
		"query": QueryResponse, "cursor": CursorResponse, "simple": SimpleResponse, "prepare": PrepareResponse, "fields": FieldListResponse,
		"rows": RowsResponse, "text": TextResponse,
	}[r.kind])
	return s
}

func recordings(t testing.TB) (byFile map[string][]recorded) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	byFile = map[string][]recorded{}
	for _, file := range files {
		byFile[file] = parseRecordings(t, file)
	}
	return byFile
}

func parseRecordings(t testing.TB, file string) (all []recorded) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		name, kind, isName := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "> "):
			r := &all[len(all)-1]
			r.found = append(r.found, line[2:])
		case isName:
			all = append(all, recorded{name: name, kind: kind})
		default:
			packet, err := hex.DecodeString(line)
			if err != nil {
				t.Fatal(file, line, err)
			}
			r := &all[len(all)-1]
			r.packets = append(r.packets, packet)
		}
	}
	return all
}

// scanAll passes the bytes to s in windows of growing length, as a buffer does. It returns the bytes that were passed on and
// the states in between.
func scanAll(s *Scanner, b []byte, chunk func() int) (passed int, states []string, err error) {
	shown := 0
	for {
		n, state, err := s.Scan(b[passed:shown])
		passed += n
		if err != nil {
			return passed, states, err
		}
		switch state {
		case NeedBytes:
			if shown == len(b) {
				return passed, append(states, "truncated"), nil
			}
			shown = min(len(b), shown+chunk())
		case Done, FileRequest:
			return passed, append(states, summary(s, state)), nil
		default:
			states = append(states, summary(s, state))
		}
	}
}

func summary(s *Scanner, state State) string {
	out := fmt.Sprintf("%s: status 0x%04x, warnings %d, columns %d, rows %d, last packet %d, next number %d",
		state, s.Status(), s.Warnings(), s.Columns(), s.Rows(), s.LastPacket(), s.NextSeq())
	if ok, has := s.OK(); has {
		out += fmt.Sprintf(", affected %d, insert ID %d", ok.AffectedRows, ok.LastInsertID)
	}
	if code, is := s.ErrCode(); is {
		out += fmt.Sprintf(", error %d", code)
	}
	return out
}

func whole() int { return 1 << 30 }

func TestScannerOnRecordedResponses(t *testing.T) {
	for file, all := range recordings(t) {
		var rewritten strings.Builder
		rewritten.WriteString(header(t, file))
		for _, r := range all {
			b := r.bytes()
			passed, found, err := scanAll(r.scanner(), append(b, "next"...), whole)
			if err != nil {
				t.Errorf("%s: %s: %v", file, r.name, err)
			}
			if passed != len(b) {
				t.Errorf("%s: %s: %d bytes passed on of %d", file, r.name, passed, len(b))
			}
			if got, want := strings.Join(found, "\n"), strings.Join(r.found, "\n"); got != want && !golden.Updating() {
				t.Errorf("%s: %s:\n got %s\nwant %s", file, r.name, got, want)
			}
			write(&rewritten, r, found)
		}
		golden.Update(t, file, rewritten.String())
	}
}

func header(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "\n\n")
	return head + "\n"
}

func write(w *strings.Builder, r recorded, found []string) {
	fmt.Fprintf(w, "\n%s %s\n", r.name, r.kind)
	for _, p := range r.packets {
		fmt.Fprintf(w, "%x\n", p)
	}
	for _, f := range found {
		fmt.Fprintf(w, "> %s\n", f)
	}
}
