package session_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/internal/test/golden"
	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/txn"
)

// TestScenes plays the scenes of testdata/scenes. A scene contains what a client sends. The indented lines below each action
// contain what each shard is then sent, and what the client gets. A shard's line begins with its name, and the client's with "=".
//
// A scene begins with "## " and its name. A line with "# " is a comment. An action of the client is not indented. "> " is a
// COM_QUERY, and the map verbs contains the other actions. "s1: UPDATE -> error 1062 Duplicate" sets the reply of a shard to its
// next statement with that prefix. "with connections" shows a shard's statements by connection, for connections that may be sent
// their commands at the same time. Users 1 and 2 have their rows on s0, users 3 and 4 on s1, users 5 and 9 on s2. Generated IDs
// are shown by names.
func TestScenes(t *testing.T) {
	files, err := filepath.Glob("testdata/scenes/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "## ")
	out := head
	for scene := range strings.SplitSeq(rest, "\n## ") {
		name, body, _ := strings.Cut(scene, "\n")
		played := strings.TrimSpace(body) + "\n" // a scene may stop early
		t.Run(name, func(t *testing.T) {
			played = play(t, body)
			if played != strings.TrimSpace(body)+"\n" && !golden.Updating() {
				t.Errorf("played:\n%s\nwanted:\n%s", difference(played, body), body)
			}
		})
		out += "## " + name + "\n" + played + "\n"
	}
	golden.Update(t, file, strings.TrimSpace(out)+"\n")
}

// difference marks the lines that differ from the wanted line at the same position.
func difference(played, wanted string) string {
	want := strings.Split(strings.TrimSpace(wanted), "\n")
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(played), "\n") {
		mark := " "
		if i >= len(want) || want[i] != line {
			mark = "!"
		}
		fmt.Fprintln(&out, mark+line)
	}
	return out.String()
}

// usual returns the options of a scene that sets none.
func usual() options {
	return options{
		flavor: flavor.MariaDB, spanning: txn.Multi, user: "app", database: "shop", statement: 1 << 20, places: 10,
		capabilities: backend.Capabilities | mysql.CLIENT_MULTI_STATEMENTS,
	}
}

// play plays a scene, and returns the scene with its outcome.
func play(t *testing.T, body string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(body), "\n")
	o := usual()
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "  ") }) // the outcome of the last run
	for _, line := range lines {
		if words, is := strings.CutPrefix(line, "with "); is {
			o.read(t, words)
		}
	}
	a := &actor{stand: newStand(t, o)}
	var out strings.Builder
	for i, line := range lines {
		a.awaited = i+1 < len(lines) && strings.HasPrefix(lines[i+1], "hears ")
		if a.person == nil && !prepares(line) {
			out.WriteString(a.begin())
		}
		out.WriteString(line + "\n")
		if line != "" && line[0] != '#' && !strings.HasPrefix(line, "with ") {
			out.WriteString(a.act(line))
		}
	}
	if a.person == nil {
		out.WriteString(a.begin())
	}
	for _, name := range a.names {
		for _, prefix := range a.shards[name].Unmet() {
			t.Errorf("%s was never sent %q", name, prefix)
		}
	}
	return strings.TrimSpace(out.String()) + "\n"
}

// prepares reports whether a line applies before the client logs in.
func prepares(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return line == "" || line[0] == '#' || word == "with" || strings.HasSuffix(word, ":")
}

// begin logs the client in.
func (a *actor) begin() string {
	p, told := a.join(a.options.user, a.options.database)
	a.person = p
	opening := a.shown(told)
	if !a.options.opening {
		return ""
	}
	return opening
}

// read parses the options in a line of a scene.
func (o *options) read(t testing.TB, words string) {
	t.Helper()
	for word := range strings.FieldsSeq(words) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "flavor":
			o.flavor = map[string]flavor.Flavor{"mysql": flavor.MySQL, "mariadb": flavor.MariaDB}[value]
		case "spanning":
			o.spanning = map[string]txn.Spanning{"xa": txn.XA, "multi": txn.Multi, "single": txn.Single}[value]
		case "user":
			o.user = value
		case "database":
			o.database = value
		case "statement":
			o.statement, _ = strconv.Atoi(value)
		case "places":
			o.places, _ = strconv.Atoi(value)
		case "settings":
			o.settings = true
		case "traced":
			o.traced = true
		case "connections":
			o.connections = true
		case "opening":
			o.opening = true
		case "charset":
			o.charset = value
		case "client":
			for flag := range strings.SplitSeq(value, ",") {
				bit, known := capabilities[strings.TrimPrefix(flag, "no-")]
				if !known {
					t.Fatalf("no client has %q", flag)
				}
				if strings.HasPrefix(flag, "no-") {
					o.capabilities &^= bit
				} else {
					o.capabilities |= bit
				}
			}
		default:
			t.Fatalf("nothing is with %q", word)
		}
	}
}

// capabilities contains the capabilities that a scene can add to the usual ones, or remove from them.
var capabilities = map[string]uint32{
	"deprecate-eof": mysql.CLIENT_DEPRECATE_EOF, "track": mysql.CLIENT_SESSION_TRACK, "files": mysql.CLIENT_LOCAL_FILES,
	"multi": mysql.CLIENT_MULTI_STATEMENTS, "attributes": mysql.CLIENT_QUERY_ATTRIBUTES, "found-rows": mysql.CLIENT_FOUND_ROWS,
	"ignore-space": mysql.CLIENT_IGNORE_SPACE,
}

// shown returns the outcome of an action: the statements that the shards got, and the answer that the client got.
func (a *actor) shown(told []string) string {
	var out strings.Builder
	for _, name := range a.names {
		if a.awaited {
			break
		}
		heard := a.shards[name].Heard()
		if a.options.connections {
			slices.SortStableFunc(heard, func(a, b fakeshard.Command) int { return cmp.Compare(a.Thread, b.Thread) })
		}
		for _, command := range heard {
			if !a.options.settings && isSetting(command.Text) {
				continue
			}
			on := ""
			if a.options.connections {
				on = fmt.Sprintf(" #%d", command.Thread)
			}
			fmt.Fprintf(&out, "  %s%s: %s\n", name, on, a.readable(command.Text))
		}
	}
	for _, call := range a.beside.said() {
		fmt.Fprintf(&out, "  - %s\n", call)
	}
	for _, line := range append(told, a.beside.traces()...) {
		if !strings.HasPrefix(line, "| ") {
			line = "= " + line
		}
		fmt.Fprintf(&out, "  %s\n", a.readable(line))
	}
	return out.String()
}

// readable replaces parts that differ between runs: the addresses of shards, and generated IDs.
func (s *stand) readable(text string) string {
	for _, p := range s.sessions {
		text = strings.ReplaceAll(text, p.net.LocalAddr().String(), "127.0.0.1:54321")
	}
	for name, shard := range s.shards {
		text = strings.ReplaceAll(text, shard.Target(name).Addr, "its address")
	}
	return strings.NewReplacer("\n", `\n`, "\x00", `\0`).Replace(s.ids.readable(text))
}

// isSetting reports whether a statement applies a session's settings to a connection, or resets it.
func isSetting(text string) bool {
	for _, shown := range []string{"SET TRANSACTION", "SET last_insert_id", "SET insert_id"} {
		if strings.HasPrefix(text, shown) {
			return false
		}
	}
	return strings.HasPrefix(text, "SET ") || strings.HasPrefix(text, "[use]") || text == "[reset]"
}
