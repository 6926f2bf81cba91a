package plan

import (
	"slices"

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

// refusal returns the refusal of a text that the parser can't read, with what to do instead.
func (u unread) refusal(syntax *stmt.SyntaxError) *Refusal {
	plain := u.plain()[u.verb():]
	r := refuse(NotAllowed, "%s; statements that reach more than the tables that they name can't be passed on unread: connect to the shard for it", syntax.Error())
	if len(plain) > 1 && plain[0] == "kill" {
		r = refuse(NotAllowed, "KILL of a user's connections: KILL each by the number that SHOW PROCESSLIST gives")
	} else if len(plain) > 1 && (plain[0] == "grant" || plain[0] == "revoke" || plain[0] == "set" && plain[1] == "password" || slices.Contains(plain[1:min(len(plain), 4)], "user") || slices.Contains(plain[1:min(len(plain), 4)], "role")) {
		r = refuse(NotAllowed, "%s", declaredAccounts)
	}
	r.Unread = true
	return r
}

const declaredAccounts = "accounts are declared: edit users in cluster.yaml and run locus apply"
