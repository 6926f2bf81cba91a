// Package live keeps the state that every session reads. It owns the watch loop and the pointer to the state in force. It
// replaces a state as a whole or not at all. If its source is unavailable, or its contents are refused, it keeps the last
// state and reports that. It never talks to etcd itself. Its user defines the state, its validity, and how it takes effect.
package live
