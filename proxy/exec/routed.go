package exec

import (
	"slices"

	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// Routed returns the part of each shard of a route. Usually all have the same text, the statement's with edits. While genes are
// moving, a shard's text excludes the rows of genes that other shards own.
func Routed(m *router.Map, v *plan.Values, route *plan.Route, k *plan.Keyed, text []byte, edits []stmt.Edit, params []wire.Param) ([]Part, error) {
	shards := m.Shards()
	parts := make([]Part, len(route.Shards))
	for i, shard := range route.Shards {
		parts[i] = Part{Shard: shards[shard], Text: text, Params: params}
		splices, err := k.Own(m, route, shard, nil)
		if err != nil {
			return nil, err
		}
		if splices != nil {
			own := append(slices.Clone(edits), plan.Edits(v, splices)...)
			parts[i].Text = stmt.AppendEdited(nil, v.Text, stmt.SortEdits(own))
		}
	}
	return parts, nil
}
