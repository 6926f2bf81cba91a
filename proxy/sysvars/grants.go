package sysvars

import (
	"errors"
	"regexp"
	"strings"

	"locus/proxy/backend"
)

// grantee matches the account in SHOW GRANTS. password matches the part that must not be shown.
var (
	grantee  = regexp.MustCompile("( TO )(`[^`]*`@`[^`]*`|'[^']*'@'[^']*')")
	password = regexp.MustCompile(` IDENTIFIED (?:BY|WITH|VIA) .*?('\*?[^']*'|USING '[^']*')`)
)

// showGrants returns a query for the rights of the proxy's account on the shards, which are the rights of its clients there. The client's own
// name replaces the account's.
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
