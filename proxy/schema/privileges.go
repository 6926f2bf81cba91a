package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/proxy/flavor"
)

// privileges are the privileges of an account without its roles: on all schemas, under "", and on each schema.
type privileges map[string]map[string]bool

// missingPrivileges returns an error that lists missing privileges. Without them, the server omits objects in its lists. If the account has a role,
// missing is nil: information_schema doesn't list the privileges of roles, so they are assumed to be sufficient.
func (s *server) missingPrivileges(ctx context.Context, q Querier) (missing, err error) {
	account, err := q.Query(ctx, `SELECT CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), ''''), COALESCE(NULLIF(CURRENT_ROLE(), 'NONE'), '')`)
	if err != nil {
		return nil, err
	}
	if len(account) != 1 || len(account[0][1]) > 0 {
		return nil, nil
	}
	who := string(account[0][0])
	rows, err := q.Query(ctx, "SELECT '', PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = "+text(who)+
		" UNION ALL SELECT TABLE_SCHEMA, PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE = "+text(who)+
		" UNION ALL SELECT 'mysql', CONCAT('proc ', PRIVILEGE_TYPE) FROM information_schema.TABLE_PRIVILEGES"+
		" WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'proc' AND GRANTEE = "+text(who))
	if err != nil {
		return nil, err
	}
	held := privileges{"": {}}
	for _, row := range rows {
		schema := string(row[0])
		if held[schema] == nil {
			held[schema] = map[string]bool{}
		}
		held[schema][string(row[1])] = true
	}
	return errors.Join(held.missing(who, s.flavor)...), nil
}

// missing returns the privileges to grant.
func (held privileges) missing(who string, f flavor.Flavor) []error {
	var problems []error
	all := held[""]
	for _, schema := range slices.Sorted(maps.Keys(held)) {
		on, name := held[schema], "*"
		if schema != "" {
			name = quoteName(strings.ReplaceAll(schema, `\`, ""))
		}
		var missing []string
		for _, p := range []string{"SHOW VIEW", "TRIGGER", "EVENT"} {
			if !on[p] && !all[p] {
				missing = append(missing, p)
			}
		}
		if uses := on["SELECT"] || on["INSERT"] || on["UPDATE"] || on["DELETE"]; uses && missing != nil && schema != "mysql" && schema != "locus" {
			problems = append(problems, fmt.Errorf("the views, triggers and routines can't be listed: GRANT %s ON %s.* TO %s", strings.Join(missing, ", "), name, who))
		}
	}
	switch {
	case all["SELECT"], all["SHOW_ROUTINE"], held["mysql"]["SELECT"], held["mysql"]["proc SELECT"]:
	case f == flavor.MariaDB:
		problems = append(problems, fmt.Errorf("the bodies of routines can't be seen: GRANT SELECT ON mysql.proc TO %s", who))
	default:
		problems = append(problems, fmt.Errorf("the bodies of routines can't be seen: GRANT SHOW_ROUTINE ON *.* TO %s", who))
	}
	return problems
}
