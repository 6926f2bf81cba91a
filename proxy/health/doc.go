// Package health tells how each server is: well, slow, frozen, away or read-only.
//
// It owns the probes, each over a connection of its own, and the states that they lead to together with the bytes that come
// from busy connections. It never ends a statement and never chooses a server: whoever has the connections is told of a server
// that is frozen ([Server]), and who chooses reads a [Snapshot], without a lock.
//
//	        answers in time                       answered twice in a row, after it was frozen or away
//	well ◀───────────────────── slow ◀──────────────────────────────────────────────┐
//	  │                          ▲ │                                                │
//	  └── a probe goes unanswered┘ └── and no byte has come for Stall ──▶ frozen ───┤
//	  └── it refuses connections or logins ──────────────────────────────▶ away ────┘
package health
