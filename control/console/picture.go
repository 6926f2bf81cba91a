package console

import (
	"slices"

	"locus/idgen/gene"
	"locus/proxy"
	"locus/router"
)

// picture is the route map as the browser draws it. A cell is one gene, or several neighbours if there are more genes
// than cells.
type picture struct {
	Version int64    `json:"version"`
	Bits    int      `json:"bits"`
	Cells   int      `json:"cells"`
	Shards  []string `json:"shards"`
	// Owners are runs: the last cell and the index of its shard.
	Owners [][2]int `json:"owners"`
	// Moving are the active moves: first and last cell, indexes of source, target and job.
	Moving [][5]int `json:"moving"`
	Jobs   []string `json:"jobs"`
}

func newPicture(m *router.Map, registered []router.ShardName) picture {
	size := genesOfCell(m.Width())
	cell := func(g gene.Gene) int { return int(g) / size }
	p := picture{Version: m.Version(), Bits: int(m.Width()), Cells: (int(m.Width().Last()) + 1) / size, Moving: [][5]int{}, Jobs: []string{}}
	index := map[router.ShardName]int{}
	for i, name := range registered {
		index[name] = i
		p.Shards = append(p.Shards, string(name))
	}
	for _, e := range m.Entries() {
		p.Owners = append(p.Owners, [2]int{cell(e.Bound), index[e.Shard]})
	}
	for i, v := range m.Moves() {
		p.Jobs = append(p.Jobs, v.ID())
		for _, r := range v.Genes.Ranges() {
			p.Moving = append(p.Moving, [5]int{cell(r.First), cell(r.Last), index[v.From], index[v.To], i})
		}
	}
	return p
}

// shardNames returns all registered shards, with or without genes.
func shardNames(m *router.Map, s proxy.Status) []router.ShardName {
	names := m.Shards()
	for name := range s.Pools {
		names = append(names, name)
	}
	for _, v := range m.Moves() {
		names = append(names, v.From, v.To)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
