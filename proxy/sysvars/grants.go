package sysvars

import (
	"errors"
	"regexp"
	"strings"

	"locus/proxy/backend"
)

// grantee is how SHOW GRANTS names who has the rights, and password what it must not show.
var (
	grantee  = regexp.MustCompile("( TO )(`[^`]*`@`[^`]*`|'[^']*'@'[^']*')")
	password = regexp.MustCompile(` IDENTIFIED (?:BY|WITH|VIA) .*?('\*?[^']*'|USING '[^']*')`)
)

// showGrants shows what the proxy's account has on the shards, which is what its clients have there, under the client's own name.
func (a *Answers) showGrants() ([]byte, error) {
	rows, err := a.Ask("SHOW GRANTS")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, row := range rows.Rows {
		grant := grantee.ReplaceAllString(string(row[0]), "${1}`"+strings.ReplaceAll(a.User, "`", "``")+"`@`%`")
		grant = password.ReplaceAllString(grant, "")
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		b.WriteString("SELECT " + backend.Quote(grant))
		b.Write(appendAlias(nil, []byte("Grants for "+a.User+"@%")))
	}
	if b.Len() == 0 {
		return nil, errors.New("the shard showed no grants")
	}
	return []byte(b.String()), nil
}
