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
		foreign, err := Foreign(m, route, k, shard)
		if err != nil {
			return nil, err
		}
		if !foreign.Empty() {
			own := slices.Clone(edits)
			for _, splice := range k.Owned.Splices(foreign) {
				at := v.Offset(splice.At)
				own = append(own, stmt.Edit{From: at, To: at, Text: splice.Text})
			}
			parts[i].Text = stmt.AppendEdited(nil, v.Text, stmt.SortEdits(own))
		}
	}
	return parts, nil
}

// Foreign gives the rows that a shard may have beside its own and that a statement of the route may concern.
func Foreign(m *router.Map, route *plan.Route, k *plan.Keyed, shard int) (router.Foreign, error) {
	foreign := m.Foreign(shard)
	if foreign.Empty() || !route.Concerns(foreign) {
		return router.Foreign{}, nil
	}
	if k.Owned == nil {
		return router.Foreign{}, plan.Unowned()
	}
	return foreign, nil
}
