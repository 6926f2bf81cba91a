package fitting

import (
	"locus/migrate/preflight"
	"locus/router"
)

// beginners checks the shards that are read from now on, because they get their first genes or become the first
// shard. They must have the rows of global tables and the views.
func (s *stranded) beginners() {
	for _, name := range s.next.ShardNames() {
		reads := name == s.next.Settings.DefaultShard || !s.next.Routes.GenesOf(name).Empty()
		read := name == s.old.Settings.DefaultShard || !s.old.Routes.GenesOf(name).Empty()
		if reads && !read {
			s.beginner(name)
		}
	}
}

func (s *stranded) beginner(name router.ShardName) {
	if s.err != nil {
		return
	}
	e := &preflight.Everywhere{FirstShard: s.old.Settings.DefaultShard, Shard: name, Tables: s.old.Tables}
	target, err := s.shards.Server(name)
	if err == nil {
		e.First, err = s.shards.Server(e.FirstShard)
	}
	var problems []preflight.Problem
	if err == nil {
		problems, err = preflight.LookAtCopies(s.ctx, target, s.next.Routes.Width(), e)
	}
	if s.err = err; err != nil {
		return
	}
	for _, p := range problems {
		s.report("shard %s is to be read, and isn't like %s: %s: %s", name, e.FirstShard, p.What, p.Remedy)
	}
}
