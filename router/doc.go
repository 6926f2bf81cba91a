// Package router is the route map: it maps genes to the shards that own them.
//
// It owns the map's rules, look-up, changes and document. A map is an ordered list of upper bounds. A gene belongs to
// the entry at the smallest bound that is not below it. A map is immutable after [New], so any number of goroutines may
// read it without a lock. A change makes another map. The package never talks to etcd, reads a clock or logs, and knows
// shards only by name.
package router
