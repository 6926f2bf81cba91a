package trust

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// attack contains the statements of an attacker, and the check of their result by another client.
type attack struct {
	name  string
	setup []string // run by app on both sides; must succeed
	// everywhere is run on each shard and on the plain server, by a user with all privileges.
	everywhere []string
	user       string // who attacks; empty: app
	charset    string // SET NAMES
	mode       string // SET sql_mode, of both sides
	say        []string
	args       []any    // the last text of say is prepared and executed with these; nothing{} for none
	look       []string // queries that app's other client runs afterwards
	after      []string // cleans up, run by app on both sides; may fail
	clear      []string // … to each shard and the plain server; may fail
	// refused lists the codes of refusals, with one of which the attack must end: "1005", or an error number of
	// MySQL as "#1142". Empty: the plain server's answer, or any refusal.
	refused []string
	// maybe are numbers of MySQL's that count as refusals, without having to be.
	maybe []uint16
	// on is the only engine on which it runs; empty: both.
	on string
}

// code matches the code of a refusal.
var code = regexp.MustCompile(`locus-\d+`)

// try goes through attacks, each with the rows as they were at first.
func (s *stand) try(t *testing.T, attacks ...attack) {
	t.Helper()
	for _, a := range attacks {
		if a.on != "" && a.on != string(s.engine) {
			continue
		}
		t.Run(strings.ReplaceAll(a.name, "/", "|"), func(t *testing.T) { s.one(t, &a) })
	}
}

func (s *stand) one(t *testing.T, a *attack) {
	for _, admin := range s.admins {
		admin.must(t, a.everywhere...)
	}
	s.noticed(t, a.everywhere)
	for _, text := range a.setup {
		s.app.must(t, text)
		s.plain.must(t, text)
	}
	defer s.clearUp(t, a)
	refusal, difference := s.attacked(t, a)
	if difference == "" {
		difference = s.looked(t, a)
	}
	difference = strings.TrimSpace(difference + "\n" + s.unlikeRows(t))
	if len(a.refused) > 0 && !slices.Contains(a.refused, refusal) {
		difference += fmt.Sprintf("\nit ended with refusal %q, want one of %q", refusal, a.refused)
	}
	if difference != "" {
		t.Errorf("%s, as %s, charset %q, sql_mode %q, after %q:\n%s", s.engine, user(a), a.charset, a.mode, a.setup, difference)
	}
}

func user(a *attack) string {
	if a.user == "" {
		return "app"
	}
	return a.user
}

// attacked runs the attack. refusal is the code with which it ended.
func (s *stand) attacked(t *testing.T, a *attack) (refusal, difference string) {
	proxy, plain := s.proxied(t, user(a)), s.direct(t, user(a))
	defer proxy.Close()
	defer plain.Close()
	if a.mode != "" {
		proxy.must(t, "SET sql_mode = '"+a.mode+"'")
		plain.must(t, "SET sql_mode = '"+a.mode+"'")
	}
	say := a.say
	if a.charset != "" {
		say = append([]string{"SET NAMES " + a.charset}, say...)
	}
	for i, text := range say {
		var args []any
		if i == len(say)-1 {
			args = a.args
		}
		got := proxy.say(text, args...)
		if refusal = a.refusal(got); refusal != "" {
			return refusal, ""
		}
		want := plain.say(text, args...)
		if d := differ(got, want); d != "" {
			return "", fmt.Sprintf("%q: %s differ\n  proxy: %s\n  plain: %s", text, d, got, want)
		}
	}
	return "", ""
}

// refusal returns the code of a refusal, or an empty string.
func (a *attack) refusal(got answer) string {
	if got.err == nil {
		return ""
	}
	if c := code.FindString(got.err.Error()); c != "" {
		return strings.TrimPrefix(c, "locus-")
	}
	number := fmt.Sprintf("#%d", got.number())
	if slices.Contains(a.refused, number) || slices.Contains(a.maybe, got.number()) || slices.Contains(alwaysRefusals, got.number()) {
		return number
	}
	return ""
}

// alwaysRefusals are MySQL's error numbers with which the proxy refuses, without a code, statements that it does not support:
// actions beyond a user's rights, character sets, and variables.
var alwaysRefusals = []uint16{1044, 1115, 1142, 1227, 1235, 1238, 1370}

// differ describes how an answer differs from the plain server's.
func differ(got, want answer) string {
	if got.number() != want.number() {
		return "errors"
	}
	if len(got.results) != len(want.results) {
		return "numbers of results"
	}
	for i, r := range got.results {
		w := want.results[i]
		switch {
		case !slices.Equal(r.columns, w.columns):
			return "columns"
		case !slices.Equal(r.rows, w.rows):
			return "rows"
		case r.affected != w.affected:
			return "affected rows"
		case (r.insertID == 0) != (w.insertID == 0):
			return "last insert IDs"
		}
	}
	return ""
}

// looked runs the queries of app's other client, on new connections to both sides.
func (s *stand) looked(t *testing.T, a *attack) string {
	if len(a.look) == 0 {
		return ""
	}
	proxy, plain := s.proxied(t, "app"), s.direct(t, "app")
	defer proxy.Close()
	defer plain.Close()
	var said []error
	for _, text := range a.look {
		got, want := proxy.say(text), plain.say(text)
		if d := differ(got, want); d != "" && a.refusal(got) == "" {
			said = append(said, fmt.Errorf("then, another client's %q: %s differ\n  proxy: %s\n  plain: %s", text, d, got, want))
		}
	}
	if err := errors.Join(said...); err != nil {
		return err.Error()
	}
	return ""
}

// unlikeRows returns the tables whose rows on the shards differ from the plain server's.
func (s *stand) unlikeRows(t *testing.T) string {
	var b strings.Builder
	now := s.rowsNow(t, func(name, shards, plain string) {
		ours, theirs := strings.Split(shards, "\n"), strings.Split(plain, "\n")
		fmt.Fprintf(&b, "afterwards %s has other rows: %d on the shards, of these alone %.300q; %d on the plain server, of these alone %.300q\n",
			name, len(ours), without(ours, theirs), len(theirs), without(theirs, ours))
	})
	if b.Len() > 0 || !maps.Equal(now, s.rows) {
		s.restore(t)
	}
	return b.String()
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	left := slices.Clone(b)
	return slices.DeleteFunc(slices.Clone(a), func(row string) bool {
		i := slices.Index(left, row)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		return i >= 0
	})
}

// noticed makes the proxy read the changes that were made directly on the shards. By itself it does so within
// seconds.
func (s *stand) noticed(t *testing.T, done []string) {
	if len(done) == 0 {
		return
	}
	if err := s.Proxy.RereadNow(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func (s *stand) clearUp(t *testing.T, a *attack) {
	for _, text := range a.after {
		s.app.say(text)
		s.plain.say(text)
	}
	for _, text := range a.clear {
		for _, admin := range s.admins {
			admin.say(text)
		}
	}
	s.noticed(t, a.clear)
	if t.Failed() { // remaining objects must not affect other tests
		s.app.say("ROLLBACK")
		s.plain.say("ROLLBACK")
	}
}
