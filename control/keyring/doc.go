// Package keyring is the keys that hide order numbers, in processes that run: the ring
// of a process, read again when its file changes, and the version that new IDs of the
// whole cluster carry, which is a value in etcd.
//
// It owns that value, who may change it and when: only to a version that all living
// processes show, by the same key. It never writes a key anywhere, and never brings a
// ring's file to a machine.
//
// Why no process can stamp with a version that another can't read: a process shows in
// etcd which versions it reads, and only then looks at the cluster's, before it serves.
// The write that changes the cluster's version holds only if no process has come or
// changed its card since all of them were seen to have the version. So whoever comes
// later finds the new version, and refuses to start without it. And no process takes
// over a ring that reads less than the one before.
package keyring
