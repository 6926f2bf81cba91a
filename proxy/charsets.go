package proxy

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"locus/proxy/schema"
)

// charset is the character set and the collation of a collation number, which a client sends at login.
type charset struct{ charset, collation string }

// readCharsets returns the character sets by collation number. On MariaDB 11.2 and later, a server can replace the default
// collation of a character set. The number of the original default then stands for the replacement. Its collation is left empty, as
// SET NAMES without COLLATE leaves it.
func readCharsets(ctx context.Context, q schema.Querier) (map[uint16]charset, error) {
	overrides, err := q.Query(ctx, "SHOW GLOBAL VARIABLES LIKE 'character_set_collations'")
	if err != nil {
		return nil, fmt.Errorf("read the collations of character sets: %w", err)
	}
	var overridden map[string]bool
	statement := "SELECT ID, COLLATION_NAME, CHARACTER_SET_NAME, IS_DEFAULT FROM information_schema.COLLATIONS " +
		"WHERE ID IS NOT NULL AND ID < 256 AND CHARACTER_SET_NAME IS NOT NULL"
	if len(overrides) == 1 {
		overridden = collationOverrides(string(overrides[0][1]))
		statement = "SET STATEMENT character_set_collations = '' FOR " + statement
	}
	rows, err := q.Query(ctx, statement)
	if err != nil {
		return nil, fmt.Errorf("read collations: %w", err)
	}
	out := make(map[uint16]charset, len(rows))
	for _, row := range rows {
		id, err := strconv.ParseUint(string(row[0]), 10, 8)
		if err != nil {
			continue
		}
		c := charset{charset: string(row[2]), collation: string(row[1])}
		if first := string(row[3]) == "Yes"; first && overridden[c.charset] {
			c.collation = ""
		}
		out[uint16(id)] = c
	}
	return out, nil
}

// collationOverrides returns the character sets whose default collation is replaced. The list is the value of
// character_set_collations, such as utf8mb4=utf8mb4_uca1400_ai_ci,….
func collationOverrides(list string) map[string]bool {
	sets := map[string]bool{}
	for one := range strings.SplitSeq(list, ",") {
		if name, _, is := strings.Cut(strings.TrimSpace(one), "="); is {
			sets[name] = true
		}
	}
	return sets
}
