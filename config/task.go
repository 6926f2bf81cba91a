package config

import "slices"

// Task is what a process may do for its cluster.
type Task string

// The tasks.
const (
	ProxyTask Task = "proxy" // takes MySQL clients
	MoverTask Task = "mover" // runs moves
	IDsTask   Task = "ids"   // gives numbers of declared generators over HTTP
)

// Tasks are all of them, which is what a process does that isn't told.
func Tasks() []Task { return []Task{ProxyTask, MoverTask, IDsTask} }

// Does tells whether the process has a task.
func (c *Config) Does(t Task) bool { return slices.Contains(c.Roles, t) }

func (c *Config) validateTasks(p *problems) {
	if len(c.Roles) == 0 {
		p.add("roles", "name at least one of proxy, mover, ids")
	}
	for i, t := range c.Roles {
		switch {
		case !slices.Contains(Tasks(), t):
			p.add("roles", "%q: use proxy, mover, ids", t)
		case slices.Contains(c.Roles[:i], t):
			p.add("roles", "%s stands there twice", t)
		}
	}
	if slices.Equal(c.Roles, []Task{IDsTask}) && c.HTTP.Listen == "" {
		p.add("http.listen", "needed by the role ids, which answers there")
	}
}
