package proxy

import "locus/router/cluster"

// Generators are those that are declared, by name.
func (p *Proxy) Generators() map[string]cluster.Generator { return p.Declared().Generators }

// Declared is the cluster in force.
func (p *Proxy) Declared() *cluster.Cluster { return p.live.Load().declared }
