package schema

import (
	"fmt"
	"maps"
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Disagreements returns the tables whose comment on some shard contradicts the declaration in the cluster, or which the cluster doesn't
// declare. Only the authors of the two can know which one is right.
func (l *Loaded) Disagreements(c *cluster.Cluster) (list []error) {
	listings := l.Catalog.Listings()
	told := map[catalog.TableName]bool{}
	for _, shard := range slices.SortedFunc(maps.Keys(listings), router.ShardName.Compare) {
		for _, t := range listings[shard].Tables {
			if !t.Declares || told[t.TableName] {
				continue
			}
			if why := disagreement(c, t); why != "" {
				told[t.TableName] = true
				list = append(list, fmt.Errorf("table %s: its comment on shard %s says %q, and %s: make the two agree, or take the comment away by ALTER TABLE %[1]s COMMENT ''",
					t.TableName, shard, t.Words, why))
			}
		}
	}
	return list
}

func disagreement(c *cluster.Cluster, t catalog.ListedTable) string {
	declared, is := c.Tables[t.TableName]
	if !is {
		return "it is not declared here"
	}
	said, err := catalog.ParseWords(t.Words)
	switch {
	case err != nil:
		return fmt.Sprintf("that is no valid declaration (%v)", err)
	case !declared.Agrees(said):
		return fmt.Sprintf("it is declared here as %q", declared.Words())
	}
	return ""
}
