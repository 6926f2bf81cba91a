// Package health determines the state of each server: healthy, slow, frozen, away or read-only.
//
// It owns the probes, each over its own connection. It derives the states from the probes and from the bytes received on busy
// connections. It never ends a statement and never chooses a server. It notifies the owner of the connections of a frozen
// server ([Server]). Code that chooses a server reads a [Snapshot] without a lock.
package health
