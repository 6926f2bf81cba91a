package preflight

import "testing"

func TestGrants(t *testing.T) {
	for _, c := range []struct {
		privilege, schema, table string
		lines                    []string
		may                      bool
	}{
		{"SELECT", "shop", "orders", nil, false},
		{"SELECT", "shop", "orders", []string{"GRANT USAGE ON *.* TO `a`@`%`"}, false},
		{"SELECT", "shop", "orders", []string{"GRANT SELECT, INSERT ON *.* TO `a`@`%`"}, true},
		{"UPDATE", "shop", "orders", []string{"GRANT SELECT, INSERT ON *.* TO `a`@`%`"}, false},
		{"REPLICATION SLAVE", "", "", []string{"GRANT REPLICATION SLAVE, PROCESS ON *.* TO `a`@`%`"}, true},
		{"REPLICATION SLAVE", "", "", []string{"GRANT ALL PRIVILEGES ON `shop`.* TO `a`@`%`"}, false},
		{"REPLICATION SLAVE", "", "", []string{"GRANT ALL PRIVILEGES ON *.* TO `a`@`%` WITH GRANT OPTION"}, true},
		{"SELECT", "shop", "orders", []string{"GRANT `role` TO `a`@`%`", "GRANT SELECT ON `shop`.* TO `role`"}, true},
		{"SELECT", "shop", "orders", []string{"GRANT SELECT ON `shop`.`orders` TO `a`@`%`"}, true},
		{"SELECT", "shop", "items", []string{"GRANT SELECT ON `shop`.`orders` TO `a`@`%`"}, false},
		{"SELECT", "shop", "orders", []string{"GRANT SELECT (`a`, `b`), INSERT ON `shop`.`orders` TO `a`@`%`"}, false},
		{"INSERT", "shop", "orders", []string{"GRANT SELECT (`a`, `b`), INSERT ON `shop`.`orders` TO `a`@`%`"}, true},
		{"SELECT", "shop_1", "orders", []string{"GRANT SELECT ON `shop\\_%`.* TO `a`@`%`"}, true},
		{"SELECT", "shopping", "orders", []string{"GRANT SELECT ON `shop\\_%`.* TO `a`@`%`"}, false},
		{"SELECT", "shopping", "orders", []string{"GRANT SELECT ON `shop_ing`.* TO `a`@`%`"}, true},
		{"SELECT", "sh`op", "orders", []string{"GRANT SELECT ON `sh``op`.* TO `a`@`%`"}, true},
		{"SELECT", "shop", "orders", []string{"GRANT SELECT ON *.* TO `a`@`%`", "REVOKE SELECT ON `shop`.* FROM `a`@`%`"}, false},
		{"SELECT", "other", "orders", []string{"GRANT SELECT ON *.* TO `a`@`%`", "REVOKE SELECT ON `shop`.* FROM `a`@`%`"}, true},
		{"EXECUTE", "shop", "p", []string{"GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `a`@`%`", "GRANT PROXY ON ``@`` TO `a`@`%`", "SET DEFAULT ROLE `r` FOR `a`@`%`"}, false},
	} {
		var g grants
		for _, line := range c.lines {
			g.read(line)
		}
		if got := g.may(c.privilege, c.schema, c.table); got != c.may {
			t.Errorf("%s on %s.%s by %q: %v", c.privilege, c.schema, c.table, c.lines, got)
		}
	}
}
