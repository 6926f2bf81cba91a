// Package health determines the state of each server: well, slow, frozen, away or read-only.
//
// It owns the probes, each over its own connection. It derives the states from the probes and from the bytes received on busy
// connections. It never ends a statement and never chooses a server. It notifies the owner of the connections of a frozen
// server ([Server]). Code that chooses a server reads a [Snapshot] without a lock.
//
//	        answers in time                       answered twice in a row, after it was frozen or away
//	well ◀───────────────────── slow ◀──────────────────────────────────────────────┐
//	  │                          ▲ │                                                │
//	  └── a probe goes unanswered┘ └── and no byte has come for Stall ──▶ frozen ───┤
//	  └── it refuses connections or logins ──────────────────────────────▶ away ────┘
package health
