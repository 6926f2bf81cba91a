package exec

import (
	"slices"

	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// Routed gives each shard of a route its part: mostly the same text, which is the statement's with edits. While genes are on the
// move, a shard leaves out rows that are others'.
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
