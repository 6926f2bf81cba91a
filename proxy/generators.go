package proxy

import "locus/router/cluster"

// Generators are those that are declared, by name.
func (p *Proxy) Generators() map[string]cluster.Generator { return p.live.Load().session.Generators }
