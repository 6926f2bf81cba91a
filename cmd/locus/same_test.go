package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/spf13/cobra"
)

// commandOf contains the commands of the operations that procedures and HTTP offer too.
var commandOf = map[string]string{
	"split": "split", "merge": "merge", "import": "import", "rebalance": "rebalance", "cutover": "cutover", "rollback": "rollback", "pause": "pause",
	"resume": "resume", "finish": "finish", "abort": "abort", "verify": "verify", "repair": "repair", "throttle": "throttle", "mirror": "mirror",
	"switchover": "switchover", "promote": "switchover", "without_replicas": "switchover", "drain": "proxies drain", "evict": "proxies evict",
	"shard_fill": "shard fill", "shard_remove": "shard remove", "routes_rollback": "routes rollback", "table_add": "table add", "table_drop": "table drop",
	"kill_session": "sessions kill", "kill_statement": "sessions kill", "acknowledge": "findings acknowledge", "withdraw": "findings withdraw",
	"explain": "explain", "next_step": "cutover",
}

// commandAlone contains the commands that change something and are neither a procedure nor a request over HTTP, with the reason.
var commandAlone = map[string]string{
	"apply": rights, "shard add": rights, "user add": rights, "user set": rights, "user passwd": rights, "user remove": rights,
	"keys create": file, "keys rotate": file, "keys use": file, "keys retire": file, "rejoin": file, "backup": file, "restore": file,
	"documents remove": broken, "documents restore": broken,
	"serve": "is the process", "demo": "is for one machine",
}

const (
	rights = "names secrets or gives rights, which is for those who can write etcd"
	file   = "reads or writes files of this machine"
	broken = "is for documents that processes can't read"
)

// requestLine is the line of the documented list for the body of a request.
var requestLine = regexp.MustCompile(`(?m)^POST /v1/calls/([a-z_]+) takes$`)

// TestInterfacesOfferTheSameOperations: each request over HTTP is a procedure and a command, and each command that changes something is
// both, or listed with the reason.
func TestInterfacesOfferTheSameOperations(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/http-v1.txt") // a test of package console compares this file with the requests
	if err != nil {
		t.Fatal(err)
	}
	f := newFaces(t)
	commands := map[string]bool{}
	for _, c := range leaves(newRoot(&invocation{getenv: func(string) string { return "" }})) {
		commands[strings.TrimPrefix(c.CommandPath(), "locus ")] = c.Flags().Lookup("yes") != nil
	}
	used := map[string]bool{}
	requests := map[string]bool{}
	for _, m := range requestLine.FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		requests[name] = true
		if name != "explain" { // EXPLAIN is a statement of its own
			if _, number := f.sql(name + "(1, 2, 3, 4, 5, 6, 7)"); number != mysql.ER_SP_WRONG_NO_OF_ARGS {
				t.Errorf("%s is a request over HTTP and no procedure: error %d", name, number)
			}
		}
		command := commandOf[name]
		if _, is := commands[command]; !is {
			t.Errorf("%s is a request over HTTP and no command %q", name, command)
		}
		used[command] = true
	}
	for name := range commandOf {
		if !requests[name] {
			t.Errorf("%s is no request over HTTP", name)
		}
	}
	for _, command := range slices.Sorted(maps.Keys(commands)) {
		if commands[command] && !used[command] && commandAlone[command] == "" {
			t.Errorf("locus %s changes something, and is no procedure and no request over HTTP: add them, or list the reason", command)
		}
	}
	for command := range commandAlone {
		if _, is := commands[command]; !is || used[command] {
			t.Errorf("locus %s is listed and is no command, or is offered by the other interfaces too", command)
		}
	}
	if _, number := f.sql("nothing()"); number != mysql.ER_SP_DOES_NOT_EXIST {
		t.Errorf("a procedure that does not exist: error %d", number)
	}
}

func leaves(c *cobra.Command) []*cobra.Command {
	if !c.HasSubCommands() {
		if c.Hidden || c.Name() == "help" {
			return nil
		}
		return []*cobra.Command{c}
	}
	var list []*cobra.Command
	for _, sub := range c.Commands() {
		list = append(list, leaves(sub)...)
	}
	return list
}
