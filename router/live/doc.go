// Package live keeps the state that every session reads: it owns the watch loop
// and the pointer to the state in force. It replaces a state whole or not at
// all, keeps the last one when its source is away or what it reads is refused,
// and says so. It never talks to etcd itself, and what a state is, when it is
// right and what it means to obey it are its maker's to say.
package live
