package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// plain returns the words with quoted ones replaced by empty ones. A quoted word is never a keyword.
func (u unread) plain() []string {
	out := slices.Clone(u.bare)
	for i, w := range u.written {
		if w != "" && (w[0] == '`' || w[0] == '"') {
			out[i] = ""
		}
	}
	return out
}

// refusal returns the refusal of a text that the parser can't read, with a remedy.
func (u unread) refusal(syntax *stmt.SyntaxError, ctx Context) *Refusal {
	plain := u.plain()[u.verb():]
	r := refuse(NotAllowed, "%s; statements that reach more than the tables that they name can't be passed on unread: connect to the shard for it", syntax.Error())
	if replicates(plain) {
		r = ReplicationRefused(ctx.Catalog)
	} else if len(plain) > 1 && plain[0] == "show" && plain[1] == "engine" {
		r = refuse(NotAllowed, "the state of a server's storage engine: each shard has its own, so connect to the shard (%s)", shardNames(ctx.Catalog))
	} else if len(plain) > 1 && plain[0] == "kill" {
		r = refuse(NotAllowed, "KILL of a user's connections: KILL each by the number that SHOW PROCESSLIST gives")
	} else if len(plain) > 1 && (plain[0] == "grant" || plain[0] == "revoke" || plain[0] == "set" && plain[1] == "password" || slices.Contains(plain[1:min(len(plain), 4)], "user") || slices.Contains(plain[1:min(len(plain), 4)], "role")) {
		r = refuse(NotAllowed, "%s", declaredAccounts)
	}
	r.Unread = true
	return r
}

// replicates reports whether the words begin a statement about the binary log or the replication of a server.
func replicates(words []string) bool {
	if len(words) < 2 {
		return false
	}
	about := words[1]
	if about == "all" && len(words) > 2 { // START ALL SLAVES
		about = words[2]
	}
	switch words[0] {
	case "show":
		return slices.Contains([]string{"binary", "master", "binlog", "relaylog", "slave", "slaves", "replica", "replicas"}, about)
	case "purge", "change", "start", "stop", "reset":
		return slices.Contains([]string{"binary", "master", "replication", "group_replication", "slave", "slaves", "replica"}, about)
	}
	return false
}

// ReplicationRefused returns the refusal of statements and commands about the binary log or the replication of a server.
func ReplicationRefused(of *catalog.Catalog) *Refusal {
	return refuse(NotAllowed, "the binary log and the replication of a server: each shard has its own, so connect to the shard (%s)", shardNames(of))
}

func shardNames(of *catalog.Catalog) string {
	names := make([]string, len(of.Shards))
	for i, shard := range of.Shards {
		names[i] = string(shard)
	}
	return strings.Join(names, ", ")
}

const declaredAccounts = "accounts are declared: edit users in cluster.yaml and run locus apply"
