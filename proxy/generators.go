package proxy

import "locus/router/cluster"

// Generators returns the declared generators by name.
func (p *Proxy) Generators() map[string]cluster.Generator { return p.Declared().Generators }

// Declared returns the cluster in force.
func (p *Proxy) Declared() *cluster.Cluster { return p.live.Load().declared }
