package config_test

import (
	"strings"
	"testing"

	"locus/config"
)

func TestRoles(t *testing.T) {
	for _, test := range []struct {
		text, problem string
		does          []config.Task
	}{
		{"", "", config.Tasks()},
		{"roles: [mover]", "", []config.Task{config.MoverTask}},
		{"roles: [proxy, ids]", "", []config.Task{config.ProxyTask, config.IDsTask}},
		{"roles: [mover]\nhttp: {listen: \"\"}", "", []config.Task{config.MoverTask}},
		{"roles: []", "name at least one", nil},
		{"roles: [proxy, prxy]", `"prxy": use proxy, mover, ids`, nil},
		{"roles: [ids, mover, ids]", "ids is listed twice", nil},
		{"roles: [ids]\nhttp: {listen: \"\"}", "http.listen: needed by the role ids", nil},
	} {
		c, err := config.Parse([]byte(test.text))
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%q: %v, want %q", test.text, err, test.problem)
		}
		if err != nil {
			continue
		}
		for _, task := range config.Tasks() {
			want := false
			for _, d := range test.does {
				want = want || d == task
			}
			if c.Does(task) != want {
				t.Errorf("%q: does %s: %v", test.text, task, !want)
			}
		}
	}
}
