package session

import (
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// view is the part of a session that SET changes.
type view struct {
	settings   *backend.Settings
	autocommit bool
	insertID   uint64
	forcedID   uint64
	late       bool
	context    given
	next       string // SET TRANSACTION … for the next one
	mode       bool   // sql_mode changed
	kept       map[string]string
	said       []string // what of it the first shard may warn of
	assigned   []string // the names of all that is assigned
}

func (s *Session) settingsView() *view {
	return &view{settings: s.settings, autocommit: s.autocommit, insertID: s.insertID, forcedID: s.forcedID, late: s.late, context: s.context, next: s.txn.next, kept: s.kept}
}

// adopt makes a view the session's, after a shard has taken it.
func (s *Session) adopt(next view) error {
	if err := s.carriable(next.settings); err != nil {
		return err
	}
	if next.autocommit && (!s.autocommit || s.switchedOff() && slices.Contains(next.assigned, "autocommit")) {
		if err := s.commit(); err != nil { // as MySQL does
			return err
		}
	}
	if err := s.take(next); err != nil {
		return err
	}
	if next.mode {
		mode, err := s.readMode(next.settings)
		if err != nil {
			return err
		}
		s.mode = mode
	}
	s.carry(next.settings)
	s.late, s.context = next.late, next.context
	s.interrupts.LimitIdle(waitTimeout(next.kept["wait_timeout"]))
	s.autocommit, s.insertID, s.txn.next, s.kept = next.autocommit, next.insertID, next.next, next.kept
	s.forcedID = next.forcedID
	return nil
}

// carry makes settings the session's.
func (s *Session) carry(settings *backend.Settings) {
	if s.settings == nil || s.settings.Database() != settings.Database() {
		s.activity.set(func(a *activity) { a.database = settings.Database() })
	}
	s.settings = settings
	charset, _ := settings.Names()
	if client, ok := settings.Lookup("character_set_client"); ok {
		charset = strings.ToLower(strings.Trim(client, "'"))
	}
	s.foreign = !utf8Charsets[charset]
	s.mode = s.mode&^stmt.Reading | reading(charset)
	s.recount()
}

// learned takes over what the values of a SET have changed themselves, by functions
// that assign.
func (v *view) learned(before, after *backend.Settings) {
	if before == after {
		return
	}
	for _, a := range after.Assignments() {
		was, _ := before.Lookup(a.Name)
		if mine, _ := v.settings.Lookup(a.Name); mine == was && a.Literal != was {
			v.settings = v.settings.With(a.Name, a.Literal)
		}
	}
}
