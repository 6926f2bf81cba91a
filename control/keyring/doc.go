// Package keyring manages the keys that hide order numbers in running processes: a process's ring, which is read again
// when its file changes, and the key version of the whole cluster's new IDs, which is a value in etcd.
//
// It owns that value and the rules of its change: the new version must be one that all running processes have, with the
// same key. It never writes a key anywhere and never distributes a ring's file.
//
// This is why no process can stamp with a version that another can't read. A process first publishes in etcd which
// versions it has, and reads the cluster's version only then, before it serves. The write that changes the cluster's
// version succeeds only if no process has started or changed its card since all of them were seen to have the version.
// So a process that starts later finds the new version and refuses to start without it. And no process accepts a ring
// that can read less than its previous one.
package keyring
