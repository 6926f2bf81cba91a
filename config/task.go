package config

import (
	"slices"

	"locus/config/strict"
)

// Task is a task of a process for its cluster.
type Task string

// The tasks.
const (
	ProxyTask Task = "proxy" // serves MySQL clients
	MoverTask Task = "mover" // runs moves
	IDsTask   Task = "ids"   // serves numbers of declared generators over HTTP
)

// Tasks returns all tasks, which is the default.
func Tasks() []Task { return []Task{ProxyTask, MoverTask, IDsTask} }

// Does reports whether the process has a task.
func (c *Config) Does(t Task) bool { return slices.Contains(c.Roles, t) }

func (c *Config) validateTasks(p *problems) {
	if len(c.Roles) == 0 {
		p.add("roles", "name at least one of proxy, mover, ids")
	}
	for i, t := range c.Roles {
		switch {
		case !slices.Contains(Tasks(), t):
			p.add("roles", "%q: use proxy, mover, ids%s", t, strict.DidYouMean(string(t), []string{"proxy", "mover", "ids"}))
		case slices.Contains(c.Roles[:i], t):
			p.add("roles", "%s is listed twice", t)
		}
	}
	if slices.Equal(c.Roles, []Task{IDsTask}) && c.HTTP.Listen == "" && c.IDs.Listen == "" {
		p.add("http.listen", "needed by the role ids, which serves there, or on ids.listen")
	}
}
